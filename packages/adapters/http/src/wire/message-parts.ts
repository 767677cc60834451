import type { EditHistoryVisibility, MessageView } from '@parley/domain/messages';
import type { WireFields } from './reply.js';
import type { ClientVariant } from './request.js';

/** Inputs of message parts besides the message. */
export interface PartForm {
  readonly client: ClientVariant;
  readonly allowEmptyTopicName: boolean;
  /** Edit history policy of the organization. */
  readonly editHistory: EditHistoryVisibility;
}

/** Fields that a feature adds to messages. */
export interface MessagePart {
  /** Fields of the message object (messages §2). */
  readonly present: (view: MessageView, form: PartForm) => WireFields;
  /**
   * True if the fields of this message differ between clients; absent means never. Must be false for a newly sent
   * message.
   */
  readonly differsByClient?: (view: MessageView) => boolean;
  /** True if the fields contain the empty topic, which is named differently per client; absent means never. */
  readonly differsByTopicName?: (view: MessageView) => boolean;
}

/** Merges several parts. */
export const joinParts = (parts: readonly MessagePart[]): Required<MessagePart> => ({
  present: (view, form) => Object.assign({}, ...parts.map((part) => part.present(view, form))),
  differsByClient: (view) => parts.some((part) => part.differsByClient?.(view) ?? false),
  differsByTopicName: (view) => parts.some((part) => part.differsByTopicName?.(view) ?? false),
});
