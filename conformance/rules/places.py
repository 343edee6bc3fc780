"""Places in the vendored documents that several rules cite."""

from __future__ import annotations

from conformance.rules.registry import CHAT, MESSAGES, RESPONSES, cite
from conformance.values import Protocol, Source

Places = dict[Protocol, Source]

CHAT_POST = "#/paths/~1v1~1chat~1completions/post"
MESSAGES_POST = "#/paths/~1v1~1messages/post"


def _everywhere(chat: str, messages: str, responses: str) -> Places:
    return {
        CHAT: cite("chat-all", chat),
        MESSAGES: cite("messages-k31", messages),
        RESPONSES: cite("responses", responses),
    }


def _shared(pointer: str, responses: str) -> Places:
    return _everywhere(pointer, pointer, responses)


_ERROR_EXAMPLE = '"error": { "message": "<string>", "type": "<string>", "code": "<string>" }'
_CREATED = "Response created successfully; streaming requests return an SSE event stream"

BEARER = _shared("#/components/securitySchemes/bearerAuth", "##All APIs require Bearer Token authentication##")
SCHEME = _shared("#/components/securitySchemes/bearerAuth/description", "Authorization: Bearer YOUR_API_KEY")
UNAUTHORIZED = _shared("#/components/responses/Unauthorized", "##All APIs require Bearer Token authentication##")
RATE_LIMITED = _shared("#/components/responses/RateLimited", _ERROR_EXAMPLE)
ENVELOPE = _shared("#/components/schemas/ErrorResponse", _ERROR_EXAMPLE)
ERROR_MESSAGE = _everywhere(
    "#/components/schemas/ErrorResponse/properties/error/properties/message",
    "#/components/schemas/ErrorResponse/properties/error/properties/message",
    '"message": "<string>"',
)
ERROR_TYPE = _everywhere(
    "#/components/schemas/ErrorResponse/properties/error/properties/type",
    "#/components/schemas/ErrorResponse/properties/error/properties/type",
    '"type": "<string>"',
)
ERROR_JSON = _shared("#/components/responses/BadRequest/content/application~1json", _ERROR_EXAMPLE)
BAD_REQUEST = _shared("#/components/responses/BadRequest", _ERROR_EXAMPLE)
SERVER_ERROR = _shared("#/components/responses/InternalError", _ERROR_EXAMPLE)
STATUSES = _everywhere(f"{CHAT_POST}/responses", f"{MESSAGES_POST}/responses", _CREATED)
OPERATION = _everywhere(CHAT_POST, MESSAGES_POST, "POST /v1/responses")
SUCCESS = _everywhere(f"{CHAT_POST}/responses/200", f"{MESSAGES_POST}/responses/200", _CREATED)
SUCCESS_JSON = _everywhere(
    f"{CHAT_POST}/responses/200/content/application~1json",
    f"{MESSAGES_POST}/responses/200/content/application~1json",
    '"object": "response"',
)
SUCCESS_STREAM = _everywhere(
    f"{CHAT_POST}/responses/200/content/text~1event-stream",
    f"{MESSAGES_POST}/responses/200/content/text~1event-stream",
    _CREATED,
)
STREAM_FLAG = _everywhere(
    "#/components/schemas/ChatCompletionRequest/properties/stream",
    "#/components/schemas/CreateMessageRequest/properties/stream",
    "When true, returns the response as an SSE stream.",
)
REQUEST_BODY = _everywhere(
    f"{CHAT_POST}/requestBody", f"{MESSAGES_POST}/requestBody", "--header 'Content-Type: application/json'"
)
REQUEST_SCHEMA = _everywhere(
    "#/components/schemas/ChatCompletionRequest",
    "#/components/schemas/CreateMessageRequest",
    "Only model and input are required.",
)
EXAMPLES = _everywhere(
    f"{CHAT_POST}/requestBody/content/application~1json/examples",
    f"{MESSAGES_POST}/requestBody/content/application~1json/examples",
    '"input": "Explain context caching in one sentence."',
)
MODEL = _everywhere(
    "#/components/schemas/ChatCompletionRequest/properties/model",
    "#/components/schemas/CreateMessageRequest/properties/model",
    "Supported models are kimi-k3.1-pro, kimi-k3.1-pro-highspeed, and kimi-k3.",
)
SERVERS = _everywhere(
    "#/servers", "#/servers", "https://api.evolink.ai is the primary endpoint for multimodal services"
)
CONTEXT = {
    CHAT: cite("chat-all", "All have a context window of 1,048,576 tokens"),
    MESSAGES: cite("messages-all", "All three models have a context window of 1,048,576 tokens"),
    RESPONSES: cite("responses", "All three models have a context window of 1,048,576 tokens"),
}
HIGHSPEED = {
    CHAT: cite("chat-all", "Same parameters as Pro"),
    MESSAGES: cite("messages-all", "Same parameters as Pro, faster generation"),
    RESPONSES: cite("responses", "Same parameters as Pro, faster generation"),
}
FASTER = {
    CHAT: cite("chat-k31", "Highspeed offers faster generation"),
    MESSAGES: cite("messages-k31", "Highspeed offers"),
    RESPONSES: cite("responses", "Same parameters as Pro, faster generation"),
}
