package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Why a model's reply has no answer in it. Test with [errors.Is].
var (
	// ErrTruncated says that the reply was cut off. What is there is no answer, even if it happens to be JSON: send a
	// shorter text or allow more tokens, since the same request would be cut off again.
	ErrTruncated = errors.New("schema: the model's reply was cut off")
	// ErrRefused says that the model, or a filter around it, declined to answer.
	ErrRefused = errors.New("schema: the model refused to answer")
	// ErrNoAnswer says that the reply is of another kind: an error of the service, or nothing at all.
	ErrNoAnswer = errors.New("schema: the reply holds no answer")
)

// DecodeReply reads the body of an HTTP response: of the chat completions API in the dialects openai and generic, and of
// the messages API in the dialect anthropic. It finds the answer, in the text or as the input of the first tool call, and
// reads it as [Form.Decode] does. A reply without an answer is [ErrTruncated], [ErrRefused] or [ErrNoAnswer]; the errors
// name the reason that the service gave in its own field for that, and nothing of what the model wrote.
func (f *Form) DecodeReply(body []byte) ([]Candidate, error) {
	read := chatAnswer
	if f.dialect == Anthropic {
		read = messagesAnswer
	}
	answer, err := read(body)
	if err != nil {
		return nil, err
	}
	return f.Decode(answer)
}

// chatAnswer finds the answer in a reply of the chat completions API.
func chatAnswer(body []byte) ([]byte, error) {
	var reply struct {
		Choices []struct {
			FinishReason string `json:"finish_reason"`
			Message      struct {
				Content   string `json:"content"`
				Refusal   string `json:"refusal"`
				ToolCalls []struct {
					Function struct {
						Arguments string `json:"arguments"`
					} `json:"function"`
				} `json:"tool_calls"`
			} `json:"message"`
		} `json:"choices"`
	}
	if json.Unmarshal(body, &reply) != nil || len(reply.Choices) == 0 {
		return nil, fmt.Errorf("%w: no choices", ErrNoAnswer)
	}
	choice := reply.Choices[0]
	switch {
	case choice.FinishReason == "length":
		return nil, fmt.Errorf("%w: finish_reason length", ErrTruncated)
	case choice.FinishReason == "content_filter":
		return nil, fmt.Errorf("%w: finish_reason content_filter", ErrRefused)
	case choice.Message.Refusal != "":
		return nil, fmt.Errorf("%w: refusal", ErrRefused)
	case len(choice.Message.ToolCalls) > 0:
		return []byte(choice.Message.ToolCalls[0].Function.Arguments), nil
	case choice.Message.Content == "":
		return nil, fmt.Errorf("%w: the content is empty", ErrNoAnswer)
	}
	return []byte(choice.Message.Content), nil
}

// messagesAnswer finds the answer in a reply of the messages API.
func messagesAnswer(body []byte) ([]byte, error) {
	var reply struct {
		StopReason string `json:"stop_reason"`
		Content    []struct {
			Type  string          `json:"type"`
			Text  string          `json:"text"`
			Input json.RawMessage `json:"input"`
		} `json:"content"`
	}
	if json.Unmarshal(body, &reply) != nil {
		return nil, fmt.Errorf("%w: no message", ErrNoAnswer)
	}
	switch reply.StopReason {
	case "max_tokens", "model_context_window_exceeded":
		return nil, fmt.Errorf("%w: stop_reason %s", ErrTruncated, reply.StopReason)
	case "refusal":
		return nil, fmt.Errorf("%w: stop_reason refusal", ErrRefused)
	}
	var text strings.Builder
	for _, block := range reply.Content {
		switch block.Type {
		case "tool_use":
			return block.Input, nil
		case "text":
			text.WriteString(block.Text)
		}
	}
	if text.Len() == 0 {
		return nil, fmt.Errorf("%w: no text", ErrNoAnswer)
	}
	return []byte(text.String()), nil
}
