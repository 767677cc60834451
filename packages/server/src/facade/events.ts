import type { NoticeTexts } from '@parley/domain/access';
import type { Group } from '@parley/domain/groups';
import {
  type DataOwnerKind,
  type DataOwnerRef,
  type DomainEvent,
  type DomainEventType,
  type EventListener,
  type EventOf,
  type GroupId,
  type HostData,
  isMaintenance,
  type MessageId,
  type RealmId,
  type ReportProblem,
  type StoredEvent,
  type UnitOfWork,
  type UserId,
} from '@parley/domain/kernel';
import type { RenderedMessages } from '@parley/domain/markdown';
import type { MessageView } from '@parley/domain/messages';
import { type DueReason, type NotificationText, notificationText, notificationWords } from '@parley/domain/push';
import type { User } from '@parley/domain/users';
import { RealmResolver } from '../kernel/realm-resolver.js';
import {
  type ChatMessage,
  type ChatPerson,
  type ChatUser,
  type ExternalIds,
  peopleBy,
  peopleIn,
  presentMessage,
  presentUser,
} from './chat-messages.js';
import { type ChatData, presentData } from './host-data.js';
import { Addresses } from './references.js';

interface EventHead<T extends DomainEventType> {
  readonly type: T;
  /** String id of the organization. */
  readonly realm: string;
  /** Sequence number within the organization: 1, 2, 3 … */
  readonly seq: number;
  readonly at: Date;
  /** Event data in the domain's names. */
  readonly data: Omit<EventOf<T>, 'type'>;
}

/** User who is due a notification, with its texts. */
export interface DuePerson extends NotificationText {
  readonly user: ChatPerson;
  readonly reason: DueReason;
  /** True if the user's settings request a push notification now. */
  readonly isPushDue: boolean;
  /** True if the user's settings request an email. */
  readonly isEmailDue: boolean;
}

/** Event properties in addition to the data, by type. */
interface EventDetails {
  'message.sent': { readonly message: ChatMessage };
  'user.created': { readonly user: ChatUser };
  /** Current data of the object. */
  'data.changed': { readonly current: ChatData };
  /** Current state of the message. One message may have several such events. */
  'notification.due': { readonly message: ChatMessage; readonly people: readonly DuePerson[] };
}

export type ParleyEventType = Exclude<DomainEventType, 'blank' | 'blanked' | 'forked' | 'restarted'>;

/** Committed event. */
export type ParleyEvent<T extends ParleyEventType = ParleyEventType> = {
  readonly [K in T]: EventHead<K> & (K extends keyof EventDetails ? EventDetails[K] : unknown);
}[T];

/** Data that events refer to. */
interface Related {
  readonly externalIds: ExternalIds;
  readonly views: ReadonlyMap<MessageId, MessageView>;
  readonly users: ReadonlyMap<UserId, User>;
  readonly groups: ReadonlyMap<GroupId, Group>;
  readonly data: (owner: DataOwnerRef) => ChatData;
}

/** Converts events to the host application's terms. */
export class EventPresenter {
  static readonly inject = [RealmResolver, Addresses, 'unitOfWork', 'renderedMessages', 'noticeTexts'] as const;
  constructor(
    private readonly realms: RealmResolver,
    private readonly addresses: Addresses,
    private readonly uow: UnitOfWork,
    private readonly renderedMessages: RenderedMessages,
    private readonly texts: NoticeTexts,
  ) {}

  /** Converts events of one realm; omits events whose content was deleted. */
  async present(realmId: RealmId, events: readonly StoredEvent[]): Promise<readonly ParleyEvent[]> {
    const realm = await this.realms.stringIdOf(realmId);
    if (realm === null) return [];
    const due = { ...(await this.relatedTo(realmId, events)), data: await this.dataOf(realmId, events) };
    const people = events.flatMap(({ event }) => {
      if (event.type === 'message.sent') return peopleIn([event.view]);
      if (event.type === 'notification.due') return event.recipients.map(({ userId }) => userId);
      return event.type === 'user.created' ? [event.user.id] : [];
    });
    const ids = [...people, ...peopleIn([...due.views.values()])];
    const externalIds = await this.addresses.externalIdsOf(realmId, ids);
    return events.flatMap((stored) => this.presentEvent(stored, realm, { ...due, externalIds }) ?? []);
  }

  private async relatedTo(
    realmId: RealmId,
    events: readonly StoredEvent[],
  ): Promise<Omit<Related, 'externalIds' | 'data'>> {
    const due = events.flatMap(({ event }) => (event.type === 'notification.due' ? [event] : []));
    if (due.length === 0) return { views: new Map(), users: new Map(), groups: new Map() };
    const recipients = due.flatMap((event) => event.recipients);
    const messageIds = new Set(due.map(({ messageId }) => messageId));
    const userIds = new Set(recipients.map(({ userId }) => userId));
    const groupIds = new Set(recipients.flatMap(({ groupId }) => groupId ?? []));
    return this.uow.read(realmId, async ({ pages, users, groups }) => ({
      views: new Map((await pages.listViews(realmId, [...messageIds])).map((it) => [it.message.id, it])),
      users: byId(await users.list(realmId, [...userIds])),
      groups: byId(await groups.list(realmId, [...groupIds])),
    }));
  }

  private async dataOf(realmId: RealmId, events: readonly StoredEvent[]): Promise<Related['data']> {
    const idsByKind = new Map<DataOwnerKind, Set<never>>();
    for (const { event } of events) {
      const owner = dataOwnerIn(event);
      if (!owner) continue;
      const ids = idsByKind.get(owner.kind) ?? new Set();
      idsByKind.set(owner.kind, ids.add(owner.id as never));
    }
    if (idsByKind.size === 0) return () => presentData();
    return this.uow.read(realmId, async ({ hostData }) => {
      const found = new Map<string, HostData>();
      for (const [kind, ids] of idsByKind) {
        for (const [id, data] of await hostData.list(realmId, kind, [...ids])) found.set(`${kind} ${id}`, data);
      }
      return ({ kind, id }) => presentData(found.get(`${kind} ${id}`));
    });
  }

  private presentEvent(stored: StoredEvent, realm: string, related: Related): ParleyEvent | null {
    const { event, seq, at } = stored;
    if (isMaintenance(event)) return null;
    const { type, ...data } = event;
    const head = { type, realm, seq, at: new Date(at * 1000), data };
    switch (event.type) {
      case 'message.sent':
        return { ...head, message: presentMessage(event.view, realm, peopleBy(related.externalIds)) } as ParleyEvent;
      case 'user.created': {
        const { user } = event;
        const data = related.data({ kind: 'user', id: user.id });
        return {
          ...head,
          user: presentUser({ user, externalId: related.externalIds.get(user.id) ?? null }, realm, data),
        } as ParleyEvent;
      }
      case 'data.changed':
        return { ...head, current: related.data(event.owner) } as ParleyEvent;
      case 'notification.due': {
        const details = this.presentDue(event, realm, related);
        return details && ({ ...head, ...details } as ParleyEvent);
      }
      default:
        return head as ParleyEvent;
    }
  }

  /** Returns null if the message has been deleted. */
  private presentDue(
    { messageId, recipients }: EventOf<'notification.due'>,
    realm: string,
    { views, users, groups, externalIds }: Related,
  ): EventDetails['notification.due'] | null {
    const view = views.get(messageId);
    if (!view) return null;
    const person = peopleBy(externalIds);
    const people = recipients.flatMap(({ userId, reason, push, email, groupId }): DuePerson[] => {
      const user = users.get(userId);
      if (!user) return [];
      const groupName = (groupId && groups.get(groupId)?.name) ?? null;
      const senderName = view.sender.fullName;
      const t = notificationWords(this.texts, user);
      const text = notificationText(this.renderedMessages, { view, reason, groupName, senderName, t });
      return [{ user: person(user), reason, isPushDue: push !== null, isEmailDue: email !== null, ...text }];
    });
    return { message: presentMessage(view, realm, person), people };
  }
}

/** Returns the owner of the data in the event; null for other events. */
function dataOwnerIn(event: DomainEvent): DataOwnerRef | null {
  if (event.type === 'data.changed') return event.owner;
  return event.type === 'user.created' ? { kind: 'user', id: event.user.id } : null;
}

const byId = <Id, T extends { readonly id: Id }>(rows: readonly T[]): ReadonlyMap<T['id'], T> =>
  new Map(rows.map((row) => [row.id, row]));

type Listener = (event: ParleyEvent) => unknown;

/** Publishes live events to listeners: in order within an organization, at most once. */
export class FacadeEvents implements EventListener {
  static readonly inject = [EventPresenter, 'report'] as const;

  private readonly listeners = new Map<ParleyEventType, Set<Listener>>();
  /** Chains deliveries to preserve their order. */
  private delivered: Promise<void> = Promise.resolve();

  constructor(
    private readonly presenter: EventPresenter,
    private readonly report: ReportProblem,
  ) {}

  /** Returns a function that removes the listener. */
  on<T extends ParleyEventType>(type: T, listener: (event: ParleyEvent<T>) => unknown): () => void {
    const listeners = this.listeners.get(type) ?? new Set();
    this.listeners.set(type, listeners);
    // Wrapped, since the same function may be registered twice.
    const added: Listener = (event) => listener(event as ParleyEvent<T>);
    listeners.add(added);
    return () => {
      listeners.delete(added);
      if (listeners.size === 0 && this.listeners.get(type) === listeners) this.listeners.delete(type);
    };
  }

  onEvents(events: readonly StoredEvent[]): void {
    if (this.listeners.size === 0) return;
    const wanted = events.filter(({ event }) => this.listeners.has(event.type as ParleyEventType));
    if (wanted.length === 0) return;
    this.delivered = this.delivered.then(() => this.deliver(wanted));
  }

  private async deliver(events: readonly StoredEvent[]): Promise<void> {
    try {
      for (const [realmId, ofRealm] of byRealm(events)) {
        for (const event of await this.presenter.present(realmId, ofRealm)) this.emit(event);
      }
    } catch (err) {
      this.report('notifying the host application of events failed', { err });
    }
  }

  private emit(event: ParleyEvent): void {
    for (const listener of [...(this.listeners.get(event.type) ?? [])]) {
      const failed = (err: unknown) => this.report(`a listener of '${event.type}' failed`, { err, seq: event.seq });
      try {
        // Asynchronous listeners are not awaited.
        Promise.resolve(listener(event)).catch(failed);
      } catch (err) {
        failed(err);
      }
    }
  }
}

function byRealm(events: readonly StoredEvent[]): ReadonlyMap<RealmId, readonly StoredEvent[]> {
  const realms = new Map<RealmId, StoredEvent[]>();
  for (const event of events) {
    const others = realms.get(event.realmId);
    if (others) others.push(event);
    else realms.set(event.realmId, [event]);
  }
  return realms;
}
