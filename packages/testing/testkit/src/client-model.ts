import { isDeepStrictEqual } from 'node:util';
import { type Actor, isAtLeast, type Role } from '@parley/domain/access';
import {
  type ChannelView,
  canSeeMetadata,
  type SubscribedSpan,
  type Subscription,
  type TopicVisibility,
  topicKey,
} from '@parley/domain/channels';
import { type FileView, viewOfFile } from '@parley/domain/files';
import {
  type Audience,
  type ChannelId,
  type DomainEvent,
  type DraftId,
  type EventSeq,
  type FileId,
  type GroupId,
  isReadable,
  type MessageId,
  type ReminderId,
  type Repositories,
  type ScheduledMessageId,
  type SnippetId,
  type StoredEvent,
  type UnixSeconds,
  type UserId,
} from '@parley/domain/kernel';
import {
  HISTORICAL,
  type MutedSender,
  type NavigationViewFields,
  type PersonalFlags,
  type Submessage,
  type Viewer,
} from '@parley/domain/messages';
import { accessChanges, accessibleUserIds, isKnownToGuest, isLimitedGuest } from '@parley/domain/users';
import type { Draft, Reaction, Reminder, ScheduledMessage, Snippet } from '@parley/domain/writing';
import type { Fixture } from './builders.js';

/** Channel as known to a client from events. Counts and versions are derived or fetched. */
export type ClientChannel = Omit<ChannelView, 'version' | 'subscriberCount' | 'weeklyTraffic' | 'firstMessageId'>;

/** State of a client: initialized at registration, then updated by events. */
export interface ClientState {
  readonly viewer: Viewer;
  /** True for a guest without access to all users. */
  readonly isLimitedGuest: boolean;
  /** Accessible users. */
  readonly users: Map<UserId, { readonly fullName: string; readonly role: Role; readonly isActive: boolean }>;
  /** Named groups. Members are active users. */
  readonly groups: Map<GroupId, { readonly memberIds: readonly UserId[]; readonly subgroupIds: readonly GroupId[] }>;
  /** Accessible channels. */
  readonly channels: Map<ChannelId, ClientChannel>;
  /** Subscribers of the accessible channels, ascending. */
  readonly subscribers: Map<ChannelId, readonly UserId[]>;
  /** Current subscriptions. */
  readonly subscriptions: Map<ChannelId, Subscription>;
  /** Topic policies by `channel:topic key`. */
  readonly topicPolicies: Map<string, { readonly visibility: TopicVisibility; readonly changedAt: UnixSeconds }>;
  /** Flags of messages that the user holds. */
  readonly messages: Map<MessageId, PersonalFlags>;
  /** Unsent scheduled messages. */
  readonly scheduledMessages: Map<ScheduledMessageId, ScheduledMessage>;
  readonly reminders: Map<ReminderId, Reminder>;
  readonly drafts: Map<DraftId, Draft>;
  alertWords: readonly string[];
  /** Muted users. */
  mutedUsers: readonly MutedSender[];
  readonly snippets: Map<SnippetId, Snippet>;
  readonly files: Map<FileId, FileView>;
  /** Navigation views by fragment. */
  readonly navigationViews: Map<string, NavigationViewFields>;
  /** Reactions of messages that have any, oldest first. */
  readonly reactions: Map<MessageId, readonly Reaction[]>;
  readonly submessages: Map<MessageId, readonly Submessage[]>;
}

/**
 * Verifies the law of real-time sync: a client's previous state plus its events equals the state fetched fresh. Checks
 * every user of the fixture during `change`.
 */
export async function expectInSync(fixture: Fixture, change: () => Promise<unknown>): Promise<void> {
  const { uow, realm } = fixture;
  const before = await uow.read(realm.id, async (r) => ({
    head: await r.events.lastSeq(realm.id),
    states: await states(fixture, r),
  }));
  await change();
  await uow.read(realm.id, async (r) => {
    const fresh = await states(fixture, r);
    const logged = await r.events.listAfter(realm.id, before.head, Number.MAX_SAFE_INTEGER);
    const events = logged.filter(isReadable);
    for (const [name, state] of before.states) {
      for (const stored of await reaching(r, state.viewer, events)) {
        applyEvent(state, stored.event);
        await applyAccessChange(r, state, stored);
        await applyShownChannels(r, state, stored);
      }
      // A guest's limitation depends on role and the organization's permission.
      const after = fresh.get(name);
      expectSame(name, { ...state, isLimitedGuest: after?.isLimitedGuest ?? false }, after);
    }
  });
}

function expectSame(name: string, tracked: ClientState, fresh: ClientState | undefined): void {
  // Jest's comparison takes several times longer and is needed only for its message.
  if (isDeepStrictEqual(tracked, fresh)) return;
  try {
    expect(tracked).toEqual(fresh);
  } catch (difference) {
    throw new Error(`${name}'s client is out of sync: ${(difference as Error).message}`);
  }
}

async function states(fixture: Fixture, r: Repositories): Promise<Map<string, ClientState>> {
  const all = new Map<string, ClientState>();
  for (const [name, { id }] of fixture.users) {
    const user = await r.users.find(fixture.realm.id, id);
    if (user?.isActive) all.set(name, await fetchClientState(r, fixture.viewer(name)));
  }
  return all;
}

/** Fetches the state as registration returns it. */
export async function fetchClientState(r: Repositories, viewer: Viewer): Promise<ClientState> {
  const { realmId, userId } = viewer;
  const actor = await r.actors.get(viewer);
  const realm = await r.realms.get(realmId);
  const known = await accessibleUserIds(r, actor, realm);
  const userIds = (await r.users.listEntries(realmId)).map(({ id }) => id).filter((id) => !known || known.has(id));
  const subscribed = new Set(await r.channels.listSubscribedIds(realmId, userId));
  const channels = await r.channels.listAll(realmId);
  const visible = channels.filter((channel) => canSeeMetadata(actor, channel, subscribed.has(channel.id)).allowed);
  const visibleIds = visible.map(({ id }) => id);
  const subscriptions = await r.channels.listSubscriptions(realmId, userId);
  const everything = { conditions: [], scope: 'own' } as const;
  const entries = await r.pages.listEntriesFrom(viewer, everything, 0, Number.MAX_SAFE_INTEGER);
  const views = await r.pages.listViews(
    realmId,
    entries.map(({ id }) => id),
  );
  return {
    viewer,
    isLimitedGuest: isLimitedGuest(actor, realm),
    users: new Map((await r.users.list(realmId, userIds)).map((user) => [user.id, clientUser(user)])),
    groups: new Map(
      (await r.groups.listViews(realmId)).map(({ id, memberIds, subgroupIds }) => [id, { memberIds, subgroupIds }]),
    ),
    channels: new Map((await r.channels.listViews(realmId, visibleIds)).map((view) => [view.id, clientChannel(view)])),
    subscribers: new Map(await r.channels.listSubscribers(realmId, visibleIds)),
    subscriptions: new Map(subscriptions.filter(({ isActive }) => isActive).map((row) => [row.channelId, row])),
    topicPolicies: new Map(
      (await r.topicPolicies.list(realmId, userId)).map(({ channelId, topic, visibility, changedAt }) => [
        policyKey(channelId, topic),
        { visibility, changedAt },
      ]),
    ),
    messages: new Map(entries.map(({ id, flags }) => [id, flags])),
    scheduledMessages: new Map((await r.scheduledMessages.list(realmId, userId, MANY)).map((it) => [it.id, it])),
    reminders: new Map((await r.reminders.list(realmId, userId, MANY)).map((it) => [it.id, it])),
    alertWords: await r.alertWords.list(realmId, userId),
    mutedUsers: await r.personal.listMutedSenders(viewer),
    drafts: new Map((await r.drafts.list(realmId, userId, MANY)).map((it) => [it.id, it])),
    files: new Map((await r.files.list(realmId, userId, 0, MANY)).map((it) => [it.id, viewOfFile(it)])),
    snippets: new Map((await r.snippets.list(realmId, userId, MANY)).map((it) => [it.id, it])),
    navigationViews: new Map((await r.navigationViews.list(realmId, userId)).map((it) => [it.fragment, it])),
    reactions: new Map(views.flatMap(({ message, reactions }) => (reactions ? [[message.id, reactions]] : []))),
    submessages: new Map(
      views.flatMap(({ message, submessages }) => (submessages.length > 0 ? [[message.id, submessages]] : [])),
    ),
  };
}

const MANY = 100_000;

type Apply<E> = (state: ClientState, event: E) => void;

/** Event types that change the model. */
const APPLY: { [E in DomainEvent as E['type']]?: Apply<E> } = {
  'message.sent': ({ messages, submessages, viewer }, { view, exceptions }) => {
    if (view.submessages.length > 0) submessages.set(view.message.id, view.submessages);
    const { id, mentionsChannel, isReadByDefault } = view.message;
    const own = exceptions.find(([userId]) => userId === viewer.userId)?.[1] ?? {};
    messages.set(id, {
      read: own.read ?? (isReadByDefault && !own.unread),
      starred: false,
      collapsed: false,
      mentioned: own.mentioned ?? false,
      channelWildcardMentioned: mentionsChannel,
      topicWildcardMentioned: own.topicWildcardMentioned ?? false,
      hasAlertWord: own.hasAlertWord ?? false,
      historical: false,
    });
  },
  'message.submessage_added': ({ messages, submessages }, { submessage }) => {
    const { messageId } = submessage;
    if (messages.has(messageId)) submessages.set(messageId, [...(submessages.get(messageId) ?? []), submessage]);
  },
  'message.flag_changed': ({ messages }, { op, flag, messageIds, all }) => {
    // A message not received becomes the user's own when flagged.
    for (const id of all ? [...messages.keys()] : messageIds) {
      messages.set(id, { ...(messages.get(id) ?? HISTORICAL), [flag]: op === 'add' });
    }
  },
  'message.updated': ({ messages, subscriptions }, { messageIds, move }) => {
    // Flags are fetched. The user loses messages moved out of their channels.
    if (!move || move.channelId === null || subscriptions.has(move.channelId)) return;
    for (const id of messageIds) messages.delete(id);
  },
  'message.deleted': ({ messages, reactions }, { messageIds }) => {
    for (const id of messageIds) for (const table of [messages, reactions]) table.delete(id);
  },
  'reaction.changed': ({ messages, reactions, viewer }, { op, messageId, user, emoji }) => {
    // Reacting to a message makes it the user's own.
    if (op === 'add' && user.id === viewer.userId && !messages.has(messageId)) messages.set(messageId, HISTORICAL);
    if (!messages.has(messageId)) return;
    const others = (reactions.get(messageId) ?? []).filter(
      ({ userId, type, code }) => userId !== user.id || type !== emoji.type || code !== emoji.code,
    );
    const now = op === 'add' ? [...others, { ...emoji, userId: user.id }] : others;
    if (now.length > 0) reactions.set(messageId, now);
    else reactions.delete(messageId);
  },
  'scheduled_message.added': ({ scheduledMessages }, { message }) => void scheduledMessages.set(message.id, message),
  'scheduled_message.changed': ({ scheduledMessages }, { message }) => void scheduledMessages.set(message.id, message),
  'scheduled_message.removed': ({ scheduledMessages }, { id }) => void scheduledMessages.delete(id),
  'reminder.added': ({ reminders }, { reminder }) => void reminders.set(reminder.id, reminder),
  'reminder.removed': ({ reminders }, { id }) => void reminders.delete(id),
  'draft.added': ({ drafts }, event) => {
    for (const draft of event.drafts) drafts.set(draft.id, draft);
  },
  'draft.changed': ({ drafts }, { draft }) => void drafts.set(draft.id, draft),
  'draft.removed': ({ drafts }, { id }) => void drafts.delete(id),
  'file.added': ({ files }, { file }) => void files.set(file.id, file),
  'file.changed': ({ files }, { file }) => void files.set(file.id, file),
  'file.removed': ({ files }, { id }) => void files.delete(id),
  'snippet.added': ({ snippets }, { snippet }) => void snippets.set(snippet.id, snippet),
  'snippet.changed': ({ snippets }, { snippet }) => void snippets.set(snippet.id, snippet),
  'snippet.removed': ({ snippets }, { id }) => void snippets.delete(id),
  'navigation_view.added': ({ navigationViews }, { view }) => void navigationViews.set(view.fragment, view),
  'navigation_view.changed': ({ navigationViews }, { fragment, changes }) =>
    change(navigationViews, fragment, (view) => ({ ...view, ...changes })),
  'navigation_view.removed': ({ navigationViews }, { fragment }) => void navigationViews.delete(fragment),
  'alert_words.changed': (state, { words }) => {
    state.alertWords = words;
  },
  'muted_users.changed': (state, { muted }) => {
    state.mutedUsers = muted;
  },
  'channel.created': (state, { channels }) => {
    for (const view of channels) learnChannel(state, view, state.subscribers.get(view.id) ?? []);
  },
  'channel.hidden': ({ channels, subscribers, subscriptions }, { channelIds }) => {
    for (const table of [channels, subscribers, subscriptions]) for (const id of channelIds) table.delete(id);
  },
  'channel.property_changed': ({ channels }, { channelId, property, value, ...more }) => {
    if (property === 'firstMessageId') return;
    const rendered = 'rendered' in more ? { renderedDescription: more.rendered } : {};
    change(channels, channelId, (channel) => ({ ...channel, [property]: value, ...rendered }));
  },
  'channel.permission_changed': ({ channels }, { channelId, permission, value, senders }) =>
    change(channels, channelId, (channel) => ({
      ...channel,
      permissions: { ...channel.permissions, [permission]: value },
      ...(senders && { sendersSystemGroup: senders.after }),
    })),
  'channel.archived_changed': ({ channels }, { channel: { id, isArchived } }) =>
    change(channels, id, (channel) => ({ ...channel, isArchived })),
  'subscription.added': (state, { channels, subscriptions }) => {
    for (const row of subscriptions) {
      if (row.userId !== state.viewer.userId) continue;
      const subscribed = channels.find(({ channel }) => channel.id === row.channelId)!;
      state.subscriptions.set(row.channelId, row);
      learnChannel(state, subscribed.channel, subscribed.subscriberIds ?? []);
    }
  },
  'subscription.changed': ({ subscriptions }, { channelId, property, value }) =>
    change(subscriptions, channelId, (row) =>
      property in row.notifications
        ? { ...row, notifications: { ...row.notifications, [property]: value } }
        : { ...row, [property]: value },
    ),
  'subscription.removed': ({ subscriptions, subscribers, viewer }, { channels }) => {
    for (const { id, userIds } of channels) {
      if (!userIds.includes(viewer.userId)) continue;
      subscriptions.delete(id);
      change(subscribers, id, (others) => without(others, userIds));
    }
  },
  'channel.subscribers_changed': ({ subscribers }, { op, channelIds, userIds }) => {
    for (const id of channelIds) {
      change(subscribers, id, (others) => (op === 'add' ? union(others, userIds) : without(others, userIds)));
    }
  },
  'default_channels.changed': ({ channels }, { channelIds }) => {
    for (const [id, channel] of channels) channels.set(id, { ...channel, isDefault: channelIds.includes(id) });
  },
  'topic.policy_changed': ({ topicPolicies }, { channelId, topic, visibility, changedAt }) => {
    const key = policyKey(channelId, topic);
    if (visibility === 'inherit') topicPolicies.delete(key);
    else topicPolicies.set(key, { visibility, changedAt });
  },
  'user.created': ({ users, isLimitedGuest, viewer }, { user }) => {
    if (!isLimitedGuest || isKnownToGuest(viewer.userId, user, false)) users.set(user.id, clientUser(user));
  },
  'user.setting_changed': ({ drafts }, { setting, value }) => {
    if (setting === 'enableDraftsSynchronization' && value === false) drafts.clear();
  },
  'user.name_changed': ({ users }, { userId, fullName }) => change(users, userId, (user) => ({ ...user, fullName })),
  'user.external_id_assigned': ({ users }, { userId, externalId }) =>
    change(users, userId, (user) => ({ ...user, externalId })),
  'user.role_changed': ({ users }, { userId, role }) => change(users, userId, (user) => ({ ...user, role })),
  'user.activation_changed': ({ users }, { userId, isActive }) =>
    change(users, userId, (user) => ({ ...user, isActive })),
  'group.created': ({ groups }, { groupId, view }) => {
    if (view) groups.set(groupId, { memberIds: view.memberIds, subgroupIds: view.subgroupIds });
  },
  'group.members_changed': ({ groups }, { op, groupId, userIds }) =>
    change(groups, groupId, ({ memberIds, subgroupIds }) => ({
      memberIds: op === 'add' ? union(memberIds, userIds) : without(memberIds, userIds),
      subgroupIds,
    })),
  'group.subgroups_changed': ({ groups }, { op, groupId, subgroupIds }) =>
    change(groups, groupId, (group) => ({
      memberIds: group.memberIds,
      subgroupIds: op === 'add' ? union(group.subgroupIds, subgroupIds) : without(group.subgroupIds, subgroupIds),
    })),
};

/** Applies an event as a client would. */
export function applyEvent(state: ClientState, event: DomainEvent): void {
  (APPLY[event.type] as Apply<DomainEvent> | undefined)?.(state, event);
}

/** Applies a change of access. The event does not contain its effect, so each receiver fetches it. */
async function applyAccessChange(r: Repositories, { viewer, users }: ClientState, stored: StoredEvent): Promise<void> {
  const { event, seq } = stored;
  if (event.type !== 'user.access_changed') return;
  const { userIds, before, reach } = event;
  const question = { guestId: viewer.userId, userIds, before, reach, at: seq };
  const [change] = await accessChanges(r, viewer.realmId, [question]);
  for (const user of change!.gained) users.set(user.id, clientUser(user));
  for (const id of change!.lost) users.delete(id);
}

/** Applies channels that become visible, with their subscribers, to the state of a client. */
async function applyShownChannels(r: Repositories, state: ClientState, { event }: StoredEvent): Promise<void> {
  const unlisted =
    event.type === 'channel.subscribers_shown'
      ? event.channelIds
      : event.type === 'subscription.added'
        ? event.channels.filter(({ subscriberIds }) => subscriberIds === null).map(({ channel }) => channel.id)
        : [];
  if (event.type === 'channel.shown') {
    for (const view of await r.channels.listViews(state.viewer.realmId, event.channelIds))
      learnChannel(state, view, []);
  }
  if (unlisted.length === 0) return;
  const { viewer, subscribers } = state;
  const lists = await r.channels.listSubscribers(viewer.realmId, unlisted);
  for (const [id, userIds] of lists) change(subscribers, id, () => userIds);
}

async function mayKnow(r: Repositories, actor: Actor, userId: UserId): Promise<boolean> {
  const known = await accessibleUserIds(r, actor, await r.realms.get(actor.realmId));
  return !known || known.has(userId);
}

/** Returns the events whose audience includes the viewer. */
async function reaching(r: Repositories, viewer: Viewer, events: readonly StoredEvent[]): Promise<StoredEvent[]> {
  const actor = await r.actors.get(viewer);
  const spans = await r.personal.listSubscribedSpans(viewer);
  const reached: StoredEvent[] = [];
  for (const stored of events) if (await isReached(r, actor, spans, stored.seq, stored.audience)) reached.push(stored);
  return reached;
}

/**
 * True if the event's audience includes the viewer. Subscribers are those at the time of the event; other permissions
 * are current.
 */
export async function reaches(r: Repositories, viewer: Viewer, { seq, audience }: StoredEvent): Promise<boolean> {
  const actor = await r.actors.get(viewer);
  return isReached(r, actor, await r.personal.listSubscribedSpans(viewer), seq, audience);
}

async function isReached(
  r: Repositories,
  actor: Actor,
  spans: readonly SubscribedSpan[],
  seq: EventSeq,
  audience: Audience,
): Promise<boolean> {
  const isIn = (part: Audience) => isReached(r, actor, spans, seq, part);
  switch (audience.kind) {
    case 'nobody':
    case 'queue':
      return false;
    case 'realm':
      return true;
    case 'users':
      return audience.ids.includes(actor.id);
    case 'role':
      return isAtLeast(actor.role, audience.atLeast);
    case 'subscribers':
      return spans.some(
        ({ channelId, fromSeq, toSeq }) =>
          channelId === audience.channelId && fromSeq <= seq && (toSeq === null || seq < toSeq),
      );
    case 'group':
      return actor.groups.has(audience.id);
    case 'holders':
      return (
        (await r.personal.filterHolders(actor.realmId, [audience.messageId], [actor.id])).get(audience.messageId)!
          .length > 0
      );
    case 'accessors':
      return mayKnow(r, actor, audience.userId);
    case 'limitedGuests':
      return isLimitedGuest(actor, await r.realms.get(actor.realmId));
    case 'anyOf':
      return (await Promise.all(audience.of.map(isIn))).includes(true);
    case 'allOf':
      return !(await Promise.all(audience.of.map(isIn))).includes(false);
    case 'except':
      return (await isIn(audience.from)) && !(await isIn(audience.without));
  }
}

function learnChannel(
  { channels, subscribers }: ClientState,
  view: ChannelView,
  subscriberIds: readonly UserId[],
): void {
  channels.set(view.id, clientChannel(view));
  subscribers.set(view.id, subscriberIds);
}

function clientChannel(view: ChannelView): ClientChannel {
  const { version: _, subscriberCount: __, weeklyTraffic: ___, firstMessageId: ____, ...known } = view;
  return known;
}

const policyKey = (channelId: ChannelId, topic: string): string => `${channelId}:${topicKey(topic)}`;

interface ClientUser {
  readonly fullName: string;
  readonly role: Role;
  readonly isActive: boolean;
  readonly externalId?: string;
}

const clientUser = ({ fullName, role, isActive, externalId }: ClientUser): ClientUser => ({
  fullName,
  role,
  isActive,
  ...(externalId !== undefined && { externalId }),
});

/** Changes an entry; changes of unknown entries are ignored. */
function change<K, V>(table: Map<K, V>, key: K, to: (value: V) => V): void {
  const value = table.get(key);
  if (value !== undefined) table.set(key, to(value));
}

const union = <Id extends number>(ids: readonly Id[], more: readonly Id[]): Id[] =>
  [...new Set([...ids, ...more])].sort((a, b) => a - b);
const without = <Id extends number>(ids: readonly Id[], fewer: readonly Id[]): Id[] =>
  ids.filter((id) => !fewer.includes(id));
