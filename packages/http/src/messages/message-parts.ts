import type { MessageView } from '@parley/domain/messages';
import { REACTION_PART } from '../reactions/reaction.presenters.js';
import type { ClientVariant } from '../routing/client-variant.js';
import type { WireFields } from '../routing/reply.js';
import { SUBMESSAGE_PART } from './submessage.presenters.js';

/** What a feature shows with messages. */
export interface MessagePart {
  /** Of the message object (messages §2). */
  readonly present: (view: MessageView, client: ClientVariant) => WireFields;
  /** Whether clients see something different of this message. Absent: never. A message that was just sent does not differ. */
  readonly differsByClient?: (view: MessageView) => boolean;
}

const PARTS: readonly MessagePart[] = [REACTION_PART, SUBMESSAGE_PART];

export const presentParts = (view: MessageView, client: ClientVariant): WireFields =>
  Object.assign({}, ...PARTS.map((part) => part.present(view, client)));

export const partsDifferByClient = (view: MessageView): boolean =>
  PARTS.some((part) => part.differsByClient?.(view) ?? false);
