import type { MessageView } from '@parley/domain/messages';
import type { ClientVariant } from '../routing/client-variant.js';
import type { WireFields } from '../routing/reply.js';

/** What a feature shows with messages. */
export interface MessagePart {
  /** Of the message object (messages §2). */
  readonly present: (view: MessageView, client: ClientVariant) => WireFields;
  /** Whether clients see something different of this message. Absent: never. A message that was just sent does not differ. */
  readonly differsByClient?: (view: MessageView) => boolean;
}

/** Several as one. */
export const joinParts = (parts: readonly MessagePart[]): Required<MessagePart> => ({
  present: (view, client) => Object.assign({}, ...parts.map((part) => part.present(view, client))),
  differsByClient: (view) => parts.some((part) => part.differsByClient?.(view) ?? false),
});
