import type { EditHistoryVisibility, MessageView } from '@parley/domain/messages';
import type { WireFields } from './reply.js';
import type { ClientVariant } from './request.js';

/** What the parts of a message depend on beside the message. */
export interface PartForm {
  readonly client: ClientVariant;
  readonly allowEmptyTopicName: boolean;
  /** What the organization shows of edits. */
  readonly editHistory: EditHistoryVisibility;
}

/** What a feature shows with messages. */
export interface MessagePart {
  /** Of the message object (messages §2). */
  readonly present: (view: MessageView, form: PartForm) => WireFields;
  /** Whether clients see something different of this message. Absent: never. A message that was just sent does not differ. */
  readonly differsByClient?: (view: MessageView) => boolean;
  /** Whether it names the empty topic, which clients show or get a name for. Absent: never. */
  readonly differsByTopicName?: (view: MessageView) => boolean;
}

/** Several as one. */
export const joinParts = (parts: readonly MessagePart[]): Required<MessagePart> => ({
  present: (view, form) => Object.assign({}, ...parts.map((part) => part.present(view, form))),
  differsByClient: (view) => parts.some((part) => part.differsByClient?.(view) ?? false),
  differsByTopicName: (view) => parts.some((part) => part.differsByTopicName?.(view) ?? false),
});
