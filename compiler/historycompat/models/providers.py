"""Names of providers → who they are and what else they are called: data of the model normaliser.

Sources: the provider strings of the AI SDK, the model strings of LiteLLM, LangChain, pydantic-ai, any-llm, agno and
Mastra's registry, and the model pages of the vendors. A name that is missing here is unknown, never an error.
"""

from __future__ import annotations

from typing import NamedTuple

# Who makes models and serves them: the maker and its other spellings.
MAKERS = {
    "ai21": "ai21labs",
    "allenai": "ai2",
    "amazon": "amazon-nova",
    "anthropic": "claude anthropic_text",
    "arcee": "arcee-ai arcee_ai",
    "baidu": "qianfan ernie",
    "bytedance": "bytedance-seed doubao",
    "cohere": "cohere_chat cohereai cohereforai coherelabs",
    "deepseek": "deepseek-ai deepseek_ai deepseekai deepseek-anthropic",
    "google": "gemini google-gla google_gla google-ai google_ai google-genai google_genai google-generative-ai"
    " google_generative_ai google_ai_studio googleai ai-studio aistudio palm google-gemini gemini-openai-compat",
    "ibm": "ibm-granite",
    "inception": "inceptionlabs",
    "liquid": "liquidai",
    "meta": "meta-llama meta_llama metallama llama-api",
    "microsoft": "",
    "minimax": "minimaxai minimax-cn minimax-coding-plan",
    "mistral": "mistralai mistral-ai mistral_ai codestral text-completion-codestral",
    "moonshot": "moonshotai moonshotai-cn moonshot-ai moonshot_ai kimi kimi-coding kimi-for-coding kimi-anthropic",
    "nousresearch": "nous",
    "openai": "openai-chat openai_chat openai-responses openai_responses openai-codex openai_text chatgpt"
    " chatgpt-codex chatgpt-codex-backend text-completion-openai",
    "perplexity": "pplx perplexity-ai perplexity-agent",
    "reka": "rekaai",
    "stepfun": "stepfun-ai",
    "tencent": "hunyuan",
    "upstage": "",
    "writer": "",
    "xai": "x-ai x_ai grok",
    "xiaomi": "xiaomimimo",
    "zai": "z-ai z_ai zai-org zhipu zhipuai zhipuai-coding-plan zai-coding-plan thudm bigmodel glm glm-anthropic",
}

# Who serves models of several makers: clouds, hosts, gateways, local servers. A maker among them serves its own too.
HOSTS = {
    "aihubmix": "",
    "aimlapi": "aiml",
    "alibaba": "dashscope qwen alibaba-cn alibaba_cloud alibaba-cloud aliyun tongyi bailian qwen-portal qwen-dashscope",
    "anyscale": "",
    "azure": "azure-openai azure_openai azureopenai azure_ai azure-ai azureai azure-ai-foundry azure_text azure-foundry"
    " azure_openai_responses azure-openai-responses",
    "baseten": "",
    "bedrock": "amazon-bedrock amazon_bedrock aws-bedrock aws_bedrock awsbedrock bedrock_converse bedrock-converse"
    " bedrock-mantle bedrock_mantle aws bedrock-runtime",
    "cerebras": "",
    "chutes": "",
    "cloudflare": "cloudflare-workers-ai cloudflare-ai-gateway workers-ai workersai @cf @hf",
    "databricks": "",
    "deepinfra": "deep-infra",
    "docker": "docker-model-runner",
    "featherless": "featherless_ai featherless-ai",
    "fireworks": "fireworks_ai fireworks-ai fireworksai",
    "friendli": "friendliai",
    "gateway": "ai-gateway ai_gateway pydantic-ai-gateway",
    "github-copilot": "github_copilot githubcopilot copilot",
    "github-models": "github_models github",
    "groq": "groqcloud",
    "helicone": "",
    "heroku": "",
    "huggingface": "hugging-face hf huggingface-hub tgi text-generation-inference",
    "hyperbolic": "",
    "kilo": "kilocode kilo-gateway",
    "lambda": "lambda_ai lambda-ai",
    "litellm-proxy": "litellm_proxy litellmproxy",
    "llamacpp": "llama.cpp llama-cpp llama_cpp llamafile",
    "lmstudio": "lm_studio lm-studio",
    "mastra": "",
    "mlx": "omlx",
    "nebius": "nebius-ai",
    "netlify": "",
    "novita": "novita-ai novita_ai",
    "nscale": "",
    "nvidia": "nvidia_nim nvidia-nim nim",
    "oci": "oci_genai oracle",
    "ollama": "ollama_chat ollama-chat ollama-cloud ollama_cloud",
    "opencode": "opencode-zen opencode-go",
    "openrouter": "open-router open_router",
    "ovhcloud": "",
    "parasail": "",
    "poe": "",
    "portkey": "",
    "replicate": "",
    "requesty": "",
    "sagemaker": "sagemaker_chat amazon-sagemaker",
    "sambanova": "sambanova-cloud",
    "scaleway": "",
    "sensenova": "",
    "sglang": "",
    "siliconflow": "siliconflow-cn",
    "snowflake": "snowflake-cortex snowflake_cortex",
    "together": "together_ai together-ai togetherai",
    "unbound": "",
    "venice": "venice_ai",
    "vercel": "vercel_ai_gateway vercel-ai-gateway vercel-ai vercel-gateway",
    "vertex": "vertex-ai vertex_ai vertexai vertex_ai_beta google-vertex google_vertex google_vertexai google-vertexai"
    " google.vertex google-cloud google_cloud google-vertex-ai",
    "vllm": "hosted_vllm hosted-vllm",
    "volcengine": "ark",
    "wandb": "",
    "watsonx": "watsonx_text",
}

# An OpenAI-shaped client in front of a server nobody knows.
DOORS = {"openai-compatible": "openai_compatible openai-like openai_like"}

# One name that says both the host and the maker.
COMPOUND = {
    "anthropic-bedrock": ("bedrock", "anthropic"),
    "anthropic_bedrock": ("bedrock", "anthropic"),
    "aws-claude": ("bedrock", "anthropic"),
    "azure-anthropic": ("azure", "anthropic"),
    "azure-mistral": ("azure", "mistral"),
    "bedrock-anthropic": ("bedrock", "anthropic"),
    "bedrock-invoke-anthropic": ("bedrock", "anthropic"),
    "foundry-anthropic": ("azure", "anthropic"),
    "nim-mistral": ("nvidia", "mistral"),
    "oci-cohere": ("oci", "cohere"),
    "vertex-anthropic": ("vertex", "anthropic"),
    "vertex-gemini": ("vertex", "google"),
    "anthropic-vertex": ("vertex", "anthropic"),
    "anthropic_vertex": ("vertex", "anthropic"),
    "azureanthropic": ("azure", "anthropic"),
    "google-vertex-anthropic": ("vertex", "anthropic"),
    "google_anthropic_vertex": ("vertex", "anthropic"),
    "vertexai-claude": ("vertex", "anthropic"),
    "vertexaianthropic": ("vertex", "anthropic"),
}

# Every known spelling, and the links of the chain that it stands for.
ALIASES: dict[str, tuple[str, ...]] = {
    **{
        spelling: (name,)
        for table in (MAKERS, HOSTS, DOORS)
        for name, spellings in table.items()
        for spelling in (name, *spellings.split())
    },
    **COMPOUND,
}

# Client libraries: they choose a client and are no station of the request.
LIBRARIES = frozenset({"any-llm", "any_llm", "anyllm", "litellm"})

# Whose model it is where a name does not tell (Azure: a deployment has the name its owner chose).
DEFAULT_MAKER = {
    "alibaba": "alibaba",
    "azure": "openai",
    "nvidia": "nvidia",
    "openai-compatible": "openai",
    "vertex": "google",
}

# Behind these, `google/...` is a name that an OpenAI-shaped endpoint understands, and Gemini's own rules do not hold.
CLOSED = {"openai": frozenset({"google", "vertex"}), "openai-compatible": frozenset({"google", "vertex"})}

# Provider fields that begin like this must have this shape, else they are somebody else's
# (`azure-cognitive-services.chat`, `azure.openai.responses`).
SHAPES = {"azure": r"azure(?:-openai)?(?:\.[a-z0-9_-]+)?"}

# Segments behind a provider that name an API of it, or (as a regex) a region.
APIS = frozenset({"chat", "completion", "completions", "converse", "converse_like", "invoke", "messages", "responses"})
REGION = r"[a-z]{2}(?:-[a-z]+)+-\d"

# What stands behind `:` in a local server's name (`mistral:7b`, `qwen:latest`): no model of a provider `mistral`.
TAG = r"(?:latest|[\dx.]+[bm])(?![a-z])"


class Wrapping(NamedTuple):
    """An address with a model inside: `keep` is the model in terms of the regex's groups, `links` who is addressed.

    With `fallback` the links count only where nothing in front of the address says otherwise.
    """

    regex: str
    keep: str
    links: tuple[str, ...]
    fallback: bool = False


# By the first word of the address. Ids are lower case here.
WRAPPINGS = {
    "accounts": Wrapping(r"accounts/[^/]*/[^/]*/(.*)", r"\1", ("fireworks",)),
    "arn": Wrapping(r"arn:[^:]*:bedrock:[^/]*/(.*)", r"\1", ("bedrock",)),
    "ft": Wrapping(r"ft:([^:]*).*", r"\1", ()),
    "models": Wrapping(r"models/(.*)", r"\1", ("google",), fallback=True),
    "projects": Wrapping(r"projects/[^/]*/locations/[^/]*/(.*)", r"\1", ("vertex",)),
    "publishers": Wrapping(r"publishers/([^/]*)/models/(.*)", r"\1/\2", ("vertex",)),
    "endpoints": Wrapping(r"endpoints/(.*)", r"\1", ("vertex",)),
    "tunedmodels": Wrapping(r"tunedmodels/(.*)", r"\1", ("google",), fallback=True),
}

# `us.anthropic.claude-...`: Bedrock's ids, and those of the hosts that write theirs alike.
DOTTED = (
    r"(?:(?:us-gov|us|eu|apac|jp|au|ca|sa|me|global)\.)?"
    r"(ai21|amazon|anthropic|cohere|deepseek|google|luma|meta|minimax|mistral|moonshot|moonshotai|nvidia|openai|qwen"
    r"|stability|twelvelabs|writer|xai|zai)\.(.+)"
)
DOTTED_HOSTS = ("bedrock", "oci")
