import type { PersonalFlags } from '../messages/message.js';
import type { EventSeq, MessageId, UserId } from '../shared/ids.js';
import type { Role } from '../users/role.js';
import type { User } from '../users/user.js';
import type { AnyEvent, AnyEventType, EphemeralEvent } from './event.js';
import type { StoredEvent } from './event-log.js';
import type { QueueFilter } from './event-queue.js';

/** What presenting an event reads of whoever receives it. */
export interface Receiver {
  readonly userId: UserId;
  readonly role: Role;
  /** Of the users that the event names (`EventNeeds.userIds`), those they may not know (users §1.4). */
  readonly inaccessible: ReadonlySet<UserId>;
  /** What the messages of `EventNeeds.messageIds` are to them now; those that are not their own are absent. */
  readonly flags: ReadonlyMap<MessageId, PersonalFlags>;
  /** Of the users of `EventNeeds.access`: whom they know from now on, and whom no longer. Ascending id. */
  readonly gained: readonly User[];
  readonly lost: readonly UserId[];
}

/** What has to be looked up before an event can be presented to somebody, beyond what it holds itself. */
export interface EventNeeds {
  /** Users it names, and of whom a guest who may not know them sees less. */
  readonly userIds?: readonly UserId[];
  /** Messages of which it tells the receiver's present flags. */
  readonly messageIds?: readonly MessageId[];
  /** Users whom a guest may know now or may have known before. */
  readonly access?: { readonly userIds: readonly UserId[]; readonly before: EventSeq };
}

/** What delivery has to know of each type of event; whoever presents events says it. */
export interface EventCatalogue {
  /** The API's names of what it becomes, by which queues choose what they want. None: it is for nobody. */
  wireTypes(type: AnyEventType): readonly string[];
  /** Null: nothing, as for most. */
  needsOf(event: AnyEvent): EventNeeds | null;
}

/** An event on its way to a client. */
export type Delivery = LoggedDelivery | EphemeralDelivery;

export interface LoggedDelivery {
  readonly stored: StoredEvent;
  /** Seen for being public, not for being received: a message then has no flags. */
  readonly isNotSubscriber: boolean;
  readonly receiver: Receiver;
}

export interface EphemeralDelivery {
  readonly ephemeral: EphemeralEvent;
  /** Its id: it has none in the log. */
  readonly position: number;
  readonly receiver: Receiver;
}

const NOTHING: Pick<Receiver, 'inaccessible' | 'flags' | 'gained' | 'lost'> = {
  inaccessible: new Set(),
  flags: new Map(),
  gained: [],
  lost: [],
};

/** Of an event for which nothing has to be looked up. */
export const receiverWithoutLookups = (userId: UserId, role: Role): Receiver => ({ userId, role, ...NOTHING });

/** Whether a queue wants what becomes events of these types on the wire. */
export const wantsType = ({ types }: QueueFilter, wireTypes: readonly string[]): boolean =>
  wireTypes.length > 0 && (types === null || wireTypes.some((type) => types.includes(type)));
