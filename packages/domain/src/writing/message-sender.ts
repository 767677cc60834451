import type { Actor } from '../access/actor.js';
import { isGranted } from '../access/group-settings.js';
import { CHANNEL_PERMISSIONS, type Channel, parseChannelName, parseTopic, topicKey } from '../channels/channel.js';
import { canPost, canSendDirect, loadPosting, unknownChannelId } from '../channels/post-permissions.js';
import type { TopicVisibility } from '../channels/topic-policies.js';
import { type DataValidator, requireFittingData } from '../kernel/data-schemas.js';
import { DomainError, orThrow, refusalOr } from '../kernel/errors.js';
import { type JsonObject, NO_HOST_DATA, parseHostData } from '../kernel/host-data.js';
import type { Caller, ChannelId, MessageId, RealmId, RecipientId, UnixSeconds, UserId } from '../kernel/ids.js';
import { enforce } from '../kernel/permission.js';
import type { Clock, RealmUrls } from '../kernel/ports.js';
import { trim } from '../kernel/text.js';
import type { Repositories, Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { parseContent } from '../messages/message.js';
import { noteOlderMessage } from '../messages/older-messages.js';
import { requireSameReaders } from '../messages/shared-messages.js';
import type { Realm } from '../realms/realm.js';
import { hasRealmPermission } from '../realms/realm-permissions.js';
import { conversationPartnerIds, publicAddress } from '../users/accessible-users.js';
import { findByPublicAddress } from '../users/find-user.js';
import type { User } from '../users/user.js';
import { accessAnnouncer } from '../users/user-events.js';
import { decideAutomaticTopicPolicies } from './automatic-topic-policies.js';
import { planLinkPreviews } from './link-previews.js';
import {
  type Destination,
  enforceMentions,
  type HookedDestination,
  type MessageHooks,
  NO_HOOKS,
  postMessage,
} from './post-message.js';
import { authorIn, type RenderedText, renderText, type TextAhead, UserTextParser } from './render-message.js';
import type { Echo } from './send-once.js';
import { BotOwnerWarnings } from './system-messages.js';
import type { ContentDigest } from './update-message.use-cases.js';
import { parseWidget, type Widget, widgetIn } from './widgets.js';

export type Addressee =
  | { readonly kind: 'channelId'; readonly id: ChannelId }
  | { readonly kind: 'channelName'; readonly name: string }
  /** Default channel of the sending bot. */
  | { readonly kind: 'defaultChannel' }
  | { readonly kind: 'userIds'; readonly ids: readonly UserId[] }
  /** Emails as visible to other users. */
  | { readonly kind: 'emails'; readonly emails: readonly string[] };
type NamedChannel = Extract<Addressee, { kind: 'channelId' | 'channelName' }>;
type NamedPeople = Extract<Addressee, { kind: 'userIds' | 'emails' }>;

export interface SendMessageInput {
  readonly to: Addressee;
  /** Null if not given. Ignored for direct messages. */
  readonly topic: string | null;
  /** Markdown as typed. */
  readonly content: string;
  /** True if the message is read for its sender. */
  readonly isReadBySender: boolean;
  /** JSON of a widget in addition to the text; absent to derive it from the text. */
  readonly widget?: string;
  /** Local id assigned by the sending client, delivered only to that client's queue. A repeated id sends nothing. */
  readonly echo: Echo | null;
  /** Time in the past, for the history of an embedding application. The message notifies nobody and arrives read. */
  readonly sentAt?: UnixSeconds;
  /** Id at the embedding application. A repetition of the call sends nothing. */
  readonly externalId?: string;
  /** Data of the host application. */
  readonly data?: JsonObject;
}

type SendOptions = Pick<SendMessageInput, 'isReadBySender' | 'echo' | 'sentAt'>;

/** Destination, text and data of a message. */
export type MessageDraft = Pick<SendMessageInput, 'to' | 'topic' | 'content' | 'data'>;

export interface SentMessage {
  readonly id: MessageId;
  /** New topic policy of the sender; null if unchanged. */
  readonly newVisibility: TopicVisibility | null;
  /** True if an earlier call sent the message. */
  readonly isRepeated: boolean;
}

/** Message data available without reading storage. */
export interface PreparedMessage {
  readonly to: NamedChannel | NamedPeople;
  readonly topic: string;
  /** Parsed text, or a content error that `check` throws at its place in the validation order. */
  readonly text: TextAhead | DomainError;
  readonly widget: string | undefined;
  readonly data: JsonObject;
}

/** Validated destination. */
type CheckedDestination =
  | Extract<Destination, { kind: 'channel' }>
  | {
      readonly kind: 'direct';
      /** Null if the conversation was not opened yet. */
      readonly recipientId: RecipientId | null;
      readonly participants: readonly User[];
    };

/** Message that the sender has permission to send now. */
export interface CheckedMessage {
  readonly realm: Realm;
  readonly actor: Actor;
  readonly sender: User;
  readonly destination: CheckedDestination;
  readonly content: string;
  readonly rendered: RenderedText;
  readonly widget: Widget | null;
  readonly data: JsonObject;
}

/** Shows messages to the host application before they are sent. */
export class HostReview {
  static readonly inject = ['unitOfWork', 'realmUrls', 'dataValidator', 'contentDigest', 'messageHooks'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly realmUrls: RealmUrls,
    private readonly dataValidator: DataValidator,
    private readonly digest: ContentDigest,
    private readonly hooks: MessageHooks = NO_HOOKS,
  ) {}

  /**
   * Returns the message as modified by the host application; called at sending time. @throws DomainError
   * MESSAGE_REFUSED, SERVER_BUSY
   */
  async ask<T extends MessageDraft>(caller: Caller, input: T): Promise<T> {
    if (!this.hooks.asksBeforeSend) return input;
    const destination = await this.uow.read(caller.realmId, (repositories) =>
      this.hookedDestination(repositories, caller, input.to),
    );
    const { topic, content, data } = await this.hooks.beforeSend(caller, {
      destination,
      topic: destination.kind === 'channel' ? input.topic : null,
      content: input.content,
      data: input.data ?? NO_HOST_DATA.data,
    });
    return { ...input, content, data, topic: destination.kind === 'channel' ? topic : input.topic };
  }

  /** Returns the digest of a call, which is equal for repetitions. */
  digestOf({ userId }: Caller, { to, topic, content }: MessageDraft): string {
    return this.digest(JSON.stringify([userId, to, topic, content]));
  }

  /** @throws DomainError DATA_SCHEMA_MISMATCH */
  requireFitting(tx: Transaction, realmId: RealmId, data: JsonObject): Promise<void> {
    return requireFittingData(tx, this.dataValidator, realmId, 'message', data);
  }

  private async hookedDestination(
    { channels, users, realms }: Repositories,
    { realmId, userId }: Caller,
    to: Addressee,
  ): Promise<HookedDestination> {
    switch (to.kind) {
      case 'userIds':
        return { kind: 'direct', userIds: [...new Set(to.ids)] };
      case 'emails': {
        const domain = this.realmUrls.emailDomainOf(await realms.get(realmId));
        const found = await findByPublicAddress({ users }, realmId, to.emails, domain);
        return { kind: 'direct', userIds: [...new Set([...found.values()].map(({ id }) => id))] };
      }
      case 'channelName': {
        const channel = await channels.findByName(realmId, trim(to.name));
        return { kind: 'channel', id: channel?.id ?? null, name: channel?.name ?? to.name };
      }
      default: {
        const id = to.kind === 'channelId' ? to.id : await defaultChannelIdOf(users, { realmId, userId });
        return { kind: 'channel', id, name: (id && (await channels.find(realmId, id))?.name) || null };
      }
    }
  }
}

/**
 * Steps of sending a message (messages §3), for use cases that do more in the same unit of work: `prepare` before the
 * unit, `check` and `send`, or `sendOnce`, inside.
 */
export class MessageSender {
  static readonly inject = ['unitOfWork', UserTextParser, 'realmUrls', 'clock', BotOwnerWarnings, HostReview] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly parser: UserTextParser,
    private readonly realmUrls: RealmUrls,
    private readonly clock: Clock,
    private readonly botOwnerWarnings: BotOwnerWarnings,
    readonly review: HostReview,
  ) {}

  /**
   * Sends a message in its own unit of work, in which `perform` may do more.
   * @throws DomainError the codes of `HostReview`, `prepare` and `check`
   */
  async post(
    caller: Caller,
    input: SendMessageInput,
    perform = (_tx: Transaction, send: () => Promise<SentMessage>): Promise<SentMessage> => send(),
  ): Promise<SentMessage> {
    const prepared = await this.prepare(caller, await this.review.ask(caller, input));
    const { to } = prepared;
    try {
      return await this.uow.write(
        caller.realmId,
        (tx) => perform(tx, () => this.sendOnce(tx, caller, prepared, input)),
        // Another send with the same external id must wait.
        input.externalId === undefined && input.sentAt === undefined
          ? { shared: { kind: 'send', userId: caller.userId } }
          : {},
      );
    } catch (error) {
      if (error instanceof DomainError && error.code === 'UNKNOWN_DESTINATION' && !isDirect(to)) {
        await this.botOwnerWarnings.warnOfUnknownChannel(caller, to.kind === 'channelName' ? to.name : String(to.id));
      }
      throw error;
    }
  }

  /** @throws DomainError INVALID_DATA, CHANNEL_REQUIRED, TOPIC_REQUIRED, INVALID_TOPIC */
  async prepare(caller: Caller, input: MessageDraft & Pick<SendMessageInput, 'widget'>): Promise<PreparedMessage> {
    const data = input.data === undefined ? NO_HOST_DATA.data : parseHostData(input.data);
    const to = input.to.kind === 'defaultChannel' ? await this.findDefaultChannel(caller) : input.to;
    if (!isDirect(to) && input.topic === null) throw new DomainError('TOPIC_REQUIRED', 'Missing topic');
    const topic = isDirect(to) ? '' : parseTopic(input.topic ?? '');
    const content = refusalOr(() => parseContent(input.content));
    // Parsing may be slow, so it runs before the unit of work. Content errors are thrown inside, at their place in the
    // validation order.
    const text = content instanceof DomainError ? content : await this.parser.parse(caller, content);
    return { to, topic, text, widget: input.widget, data };
  }

  /**
   * Checks everything that sending requires, without changing data.
   * @throws DomainError RECIPIENTS_REQUIRED, UNKNOWN_DESTINATION, UNKNOWN_USER, INVALID_CHANNEL_NAME,
   * INVALID_MESSAGE_CONTENT, INVALID_WIDGET, UNRENDERABLE_CONTENT; in channels CANNOT_POST_IN_CHANNEL,
   * CANNOT_CREATE_TOPIC, TOPIC_REQUIRED, EMPTY_TOPIC_REQUIRED; to users CANNOT_ACCESS_RECIPIENT,
   * NAMED_USER_DEACTIVATED, DIRECT_MESSAGES_DISABLED, CONVERSATION_NOT_AUTHORIZED, CANNOT_START_CONVERSATION; for
   * mentions CANNOT_MENTION_GROUP, CHANNEL_WILDCARD_NOT_ALLOWED, TOPIC_WILDCARD_NOT_ALLOWED; DATA_SCHEMA_MISMATCH; with
   * a token UNKNOWN_READ_CONTEXT, READ_CONTEXT_FULL, AUDIENCE_GREW
   */
  async check(tx: Transaction, caller: Caller, prepared: PreparedMessage): Promise<CheckedMessage> {
    const { to, topic } = prepared;
    const actor = await tx.actors.get(caller);
    const view = await requireSameReaders(tx, caller, this.clock.now());
    const realm = await tx.realms.get(caller.realmId);
    const sender = await tx.users.get(caller.realmId, caller.userId);
    const recipients = isDirect(to) ? await this.findPeople(tx, realm, to) : [];
    const text = orThrow(prepared.text);

    const destination = isDirect(to)
      ? await this.findConversation(tx, realm, actor, sender, recipients)
      : await this.findTopic(tx, realm, actor, to, topic);
    const widget = prepared.widget === undefined ? widgetIn(text.content) : parseWidget(prepared.widget);
    const parsed = this.parser.parsedBy(realm, sender, text);
    const rendered = await renderText(tx, this.parser.renderer, parsed, realm, authorIn(view, actor));
    await enforceMentions(tx, realm, actor, sender, destination, rendered);
    const { data } = prepared;
    await this.review.requireFitting(tx, realm.id, data);
    return { realm, actor, sender, destination, content: text.content, rendered, widget, data };
  }

  /**
   * Checks and sends, unless an equal call with the external id did. `input`: as requested, before hooks changed it.
   * @throws DomainError EXTERNAL_ID_TAKEN if another call has used the id; the codes of `check` and `send`
   */
  async sendOnce(
    tx: Transaction,
    caller: Caller,
    prepared: PreparedMessage,
    input: SendMessageInput,
  ): Promise<SentMessage> {
    const send = async () => this.send(tx, caller, await this.check(tx, caller, prepared), input);
    const { externalId } = input;
    if (externalId === undefined) return send();
    const { realmId } = caller;
    const digest = this.review.digestOf(caller, input);
    const first = await tx.sentOnce.findExternal(realmId, externalId);
    if (first === null) {
      const sent = await send();
      await tx.sentOnce.putExternal({ realmId, externalId, messageId: sent.id, digest });
      return sent;
    }
    if (first.digest !== null && first.digest !== digest) {
      throw new DomainError('EXTERNAL_ID_TAKEN', `Another message has the external id '${externalId}'.`);
    }
    return { id: first.messageId, newVisibility: null, isRepeated: true };
  }

  /** Must run in the same unit of work as `check`. @throws DomainError INVALID_ARGUMENT, HISTORY_OUT_OF_ORDER */
  async send(tx: Transaction, caller: Caller, checked: CheckedMessage, options: SendOptions): Promise<SentMessage> {
    return options.sentAt === undefined
      ? this.sendNow(tx, caller, checked, options)
      : this.sendOlder(tx, caller, checked, options.sentAt);
  }

  private async sendNow(
    tx: Transaction,
    caller: Caller,
    checked: CheckedMessage,
    { isReadBySender, echo }: SendOptions,
  ): Promise<SentMessage> {
    const { realm, actor, sender, rendered, widget, content, data } = checked;
    const destination = await opened(tx, checked);
    const now = this.clock.now();
    const topicPolicies = await decideAutomaticTopicPolicies(tx, sender, destination, rendered, now);
    const message = await postMessage(tx, {
      sender,
      destination,
      content,
      rendered,
      clientName: caller.clientName,
      sentAt: now,
      isReadBySender,
      widget,
      data,
      topicPolicies: topicPolicies.changes,
      replacedTopicPolicies: topicPolicies.replaced,
      scope: caller.scope,
      echo: echo && (await isOwnQueue(tx, caller, echo.queueId)) ? echo : null,
    });
    await planLinkPreviews(tx, realm, sender, message.id, rendered.html, now);
    if (destination.kind === 'channel' && actor.botOwnerId !== null) {
      await this.botOwnerWarnings.warnOfNoSubscribers(tx, caller, destination.channel);
    }
    return { id: message.id, newVisibility: topicPolicies.ofSender, isRepeated: false };
  }

  private async sendOlder(
    tx: Transaction,
    { clientName }: Caller,
    checked: CheckedMessage,
    sentAt: UnixSeconds,
  ): Promise<SentMessage> {
    if (sentAt > this.clock.now()) throw new DomainError('INVALID_ARGUMENT', 'sentAt must not be in the future.');
    const { sender, rendered, widget, content, data } = checked;
    const destination = await opened(tx, checked);
    const post = { sender, destination, content, rendered, clientName, sentAt, widget, data };
    const message = await postMessage(tx, { ...post, isReadBySender: true, isReadByDefault: true });
    await noteOlderMessage(tx, message);
    return { id: message.id, newVisibility: null, isRepeated: false };
  }

  private findDefaultChannel(caller: Caller): Promise<NamedChannel> {
    return this.uow.read(caller.realmId, async ({ users }) => {
      const id = await defaultChannelIdOf(users, caller);
      if (id === null) throw new DomainError('CHANNEL_REQUIRED', 'Missing channel');
      return { kind: 'channelId', id };
    });
  }

  /** Returns all recipients; includes the sender only if named. */
  private async findPeople(tx: Transaction, realm: Realm, to: NamedPeople): Promise<readonly User[]> {
    if (to.kind === 'userIds') {
      if (to.ids.length === 0) throw new DomainError('RECIPIENTS_REQUIRED', 'Message must have recipients');
      const found = await tx.users.list(realm.id, [...new Set(to.ids)]);
      const userIds = new Set(found.map((user) => user.id));
      const unknown = to.ids.find((id) => !userIds.has(id));
      if (unknown !== undefined) throw new DomainError('UNKNOWN_USER', `Invalid user ID ${unknown}`);
      return found;
    }
    const { emails } = to;
    if (emails.length === 0) throw new DomainError('RECIPIENTS_REQUIRED', 'Message must have recipients');
    const found = await findByPublicAddress(tx, realm.id, emails, this.realmUrls.emailDomainOf(realm));
    const unknown = emails.find((email) => !found.has(email));
    if (unknown !== undefined) throw new DomainError('UNKNOWN_USER', `Invalid email '${unknown}'`);
    return [...new Map([...found.values()].map((user) => [user.id, user])).values()];
  }

  private async findConversation(
    tx: Transaction,
    realm: Realm,
    actor: Actor,
    sender: User,
    recipients: readonly User[],
  ): Promise<CheckedDestination> {
    const participants = [...recipients.filter((user) => user.id !== sender.id), sender].sort((a, b) => a.id - b.id);
    const ids = participants.map((person) => person.id);
    const actors = await tx.actors.list(realm.id, ids);
    const existing = await tx.recipients.findDirect(realm.id, ids);
    const partners = await conversationPartnerIds(tx, actor, realm);
    const { nobody } = await tx.groups.systemGroupIds(realm.id);
    enforce(
      canSendDirect({
        sender: actor,
        recipients: recipients.map((user) => ({
          user,
          actor: actors.get(user.id) ?? null,
          address: publicAddress(user, this.realmUrls.emailDomainOf(realm)),
          sharesConversation: partners.has(user.id),
        })),
        realm,
        nobodyGroupId: nobody,
        // Existence is irrelevant if the actor may start conversations.
        conversationExists:
          hasRealmPermission(actor, realm, 'directMessageInitiator') ||
          (existing !== null && (await tx.topics.hasMessages(realm.id, existing))),
      }),
    );
    return { kind: 'direct', recipientId: existing, participants };
  }

  private async findTopic(
    tx: Transaction,
    realm: Realm,
    actor: Actor,
    to: NamedChannel,
    topic: string,
  ): Promise<CheckedDestination> {
    const channel = await findAddressedChannel(tx, realm.id, to);
    const posting = await loadPosting(tx, actor, channel, to.kind === 'channelName' ? trim(to.name) : null);
    enforce(
      canPost({
        ...posting,
        // Existence is irrelevant if the actor may create topics.
        topicExists:
          isGranted(actor, channel.permissions.canCreateTopic, CHANNEL_PERMISSIONS.canCreateTopic) ||
          (await tx.topics.hasMessages(actor.realmId, channel.recipientId, topicKey(topic))),
        topic,
        realm,
      }),
    );
    return { kind: 'channel', channel, topic, topicLinks: this.parser.renderer.topicLinks(topic, realm.linkifiers) };
  }
}

/** Channel of a bot for messages without a destination; null for people. */
const defaultChannelIdOf = async (
  users: Repositories['users'],
  { realmId, userId }: Pick<Caller, 'realmId' | 'userId'>,
): Promise<ChannelId | null> =>
  ((await users.find(realmId, userId))?.bot?.defaultSendingChannelId ?? null) as ChannelId | null;

const isDirect = (to: NamedChannel | NamedPeople): to is NamedPeople => to.kind === 'userIds' || to.kind === 'emails';

async function opened(
  tx: Transaction,
  { realm, destination }: Pick<CheckedMessage, 'realm' | 'destination'>,
): Promise<Destination> {
  if (destination.kind === 'channel') return destination;
  const { participants, recipientId: existing } = destination;
  if (existing !== null) return { kind: 'direct', recipientId: existing, participants };
  const ids = participants.map((person) => person.id);
  const access = await accessAnnouncer(tx, realm);
  const recipientId = await tx.recipients.openDirect(realm.id, ids);
  await access?.announceConversation(ids);
  return { kind: 'direct', recipientId, participants };
}

async function isOwnQueue(tx: Transaction, { realmId, userId }: Caller, queueId: string): Promise<boolean> {
  return (await tx.queues.find(realmId, queueId))?.ownerId === userId;
}

async function findAddressedChannel(tx: Transaction, realmId: RealmId, to: NamedChannel): Promise<Channel> {
  if (to.kind === 'channelName') {
    const name = parseChannelName(to.name);
    const channel = await tx.channels.findByName(realmId, name);
    if (channel) return channel;
    throw new DomainError('UNKNOWN_DESTINATION', `Channel '${name}' does not exist`, { channelName: name });
  }
  const channel = await tx.channels.find(realmId, to.id);
  if (!channel) enforce(unknownChannelId(to.id));
  return channel!;
}
