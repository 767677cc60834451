import type { Actor } from '../access/actor.js';
import { DomainError } from '../kernel/errors.js';
import type { Caller, ChannelId, MessageId, RealmId, UserId } from '../kernel/ids.js';
import type { Job, JobHandler, JobWork } from '../kernel/jobs.js';
import type { Clock, RealmUrls, ReportProblem } from '../kernel/ports.js';
import { takeCodePoints } from '../kernel/text.js';
import type { Repositories, Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { getOrThrow } from '../kernel/work.js';
import { silentMention } from '../markdown/markdown.js';
import { loadMessages } from '../messages/load-access.js';
import { cutMarkdown, MAX_MESSAGE_LENGTH, type MessageView } from '../messages/message.js';
import { canReadMessage } from '../messages/message-permissions.js';
import { conversationUrl, messageUrl, topicUrl } from '../messages/narrow.js';
import type { Realm } from '../realms/realm.js';
import { inaccessibleUserIds } from '../users/accessible-users.js';
import type { User } from '../users/user.js';
import { scheduleWebhook, type TriggeredBot, WEBHOOK_JOB } from '../writing/bot-triggers.js';
import { type Addressee, type CheckedMessage, MessageSender, type PreparedMessage } from '../writing/message-sender.js';
import { BotOwnerWarnings, SystemMessages } from '../writing/system-messages.js';
import type { OutgoingWebhook, WebhookInterface } from './bots.js';

/** Message to send to a bot's URL, with everything needed for its wire format. */
export interface WebhookDelivery {
  readonly realm: Realm;
  readonly bot: User;
  /** The bot in the role of the message's reader. */
  readonly viewer: Actor;
  readonly webhook: OutgoingWebhook;
  readonly trigger: TriggeredBot['trigger'];
  readonly view: MessageView;
  /** False if the sender is hidden from the bot. */
  readonly isSenderVisible: boolean;
}

export interface WebhookRequest {
  readonly contentType: string;
  readonly body: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface WebhookResponse {
  readonly status: number;
  readonly text: string;
}

/** Reply requested by the receiver. */
export interface WebhookReply {
  readonly content: string;
  /** Widget JSON; null for none. */
  readonly widget: string | null;
}

/** Wire formats of the two interfaces (organization §19). */
export interface WebhookFormats {
  requestOf(delivery: WebhookDelivery): WebhookRequest;
  /** Returns null if the receiver wants no reply, or a description of an invalid response. */
  replyOf(kind: WebhookInterface, text: string): WebhookReply | string | null;
}

/** Sends requests to user-supplied URLs. */
export interface WebhookClient {
  /**
   * Returns the response with any status; does not follow redirects. @throws WebhookRefused for a forbidden address;
   * any other error if the receiver cannot be reached, is too slow or sends too much
   */
  post(url: string, request: WebhookRequest): Promise<WebhookResponse>;
}

/** The operator does not allow requests to this address. */
export class WebhookRefused extends Error {}

/** Texts about a failed delivery, in the conversation and to the owner. */
interface Failure {
  readonly reason: string;
  readonly details: string;
}

type Outcome =
  | { readonly kind: 'reply'; readonly reply: WebhookReply }
  | { readonly kind: 'failure'; readonly failure: Failure }
  | null;

/** Messages to post: the requested reply, if there is one, and the one about a failure. */
interface PreparedReply {
  readonly reply: PreparedMessage | null;
  readonly failure: PreparedMessage;
}

/** Client name of replies, shown with messages. */
const CLIENT_NAME = 'OutgoingWebhookResponse';
/** Maximum length of a response quoted to the owner, in code points. */
const MAX_QUOTED = 1000;
/** Pause of a bot's queue after a failed connection. */
const PAUSE_SECONDS = 60;

/** Requests to outgoing webhooks. */
export class WebhookCalls {
  static readonly inject = ['webhookFormats', 'webhookClient'] as const;
  constructor(
    private readonly formats: WebhookFormats,
    private readonly client: WebhookClient,
  ) {}

  async deliver(delivery: WebhookDelivery, isLastAttempt: boolean): Promise<Outcome> {
    const { webhook, view } = delivery;
    if (webhook.interface === 'slack' && view.conversation.kind === 'direct') return failure(NO_DIRECT_MESSAGES);
    let response: WebhookResponse;
    try {
      response = await this.client.post(webhook.url, this.formats.requestOf(delivery));
    } catch (error) {
      if (error instanceof WebhookRefused) return failure(error.message);
      if (!isLastAttempt) throw error;
      const quoted = quotedAsCode(error instanceof Error ? error.message : String(error));
      return failure(
        UNAVAILABLE,
        `When trying to send a request to the webhook service, an error occurred:\n${quoted}`,
      );
    }
    if (response.status < 200 || response.status > 299) return failure(refusalOf(response), detailsOf(response));
    const reply = this.formats.replyOf(webhook.interface, response.text);
    if (typeof reply === 'string') return failure(reply, `${reply}\n${quotedAsCode(response.text)}`);
    return reply && { kind: 'reply', reply };
  }
}

/** Messages to owners of bots whose outgoing webhook failed. */
export class WebhookFailureNotices {
  static readonly inject = [SystemMessages, 'realmUrls'] as const;
  constructor(
    private readonly systemMessages: SystemMessages,
    private readonly realmUrls: RealmUrls,
  ) {}

  async send(tx: Transaction, { realm, bot, view }: WebhookDelivery, details: string): Promise<void> {
    const { ownerId } = bot.bot!;
    const owner = ownerId === null ? null : await tx.users.find(realm.id, ownerId);
    if (!owner?.isActive) return;
    const actor = await tx.actors.get({ realmId: realm.id, userId: owner.id });
    const url = this.realmUrls.urlOf(realm) + urlOf(view);
    const text = `[A message](${url}) to your bot ${silentMention(bot)} triggered an outgoing webhook.\n${details}`;
    await this.systemMessages.sendDirect(tx, realm, owner, text, { actor });
  }
}

/**
 * Delivers messages to outgoing webhooks and posts the replies (organization §19). Each bot's requests are sequential,
 * in message order.
 */
export class DeliverWebhooks implements JobHandler<{ readonly botId: UserId }> {
  static readonly inject = [
    'unitOfWork',
    'clock',
    WebhookCalls,
    MessageSender,
    WebhookFailureNotices,
    'report',
  ] as const;

  readonly kind = WEBHOOK_JOB;

  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
    private readonly calls: WebhookCalls,
    private readonly sending: MessageSender,
    private readonly notices: WebhookFailureNotices,
    private readonly report: ReportProblem,
  ) {}

  async prepare({ realmId, payload: { botId }, attempt }: Job<{ readonly botId: UserId }>): Promise<JobWork> {
    const { waiting, delivery } = await this.uow.read(realmId, (reads) => loadDelivery(reads, realmId, botId));
    if (waiting === null) return async () => {};
    const outcome = delivery && (await this.calls.deliver(delivery, attempt >= this.kind.retries.maxAttempts));
    const prepared = delivery && outcome && (await this.prepareReply(delivery, outcome));
    const pause = outcome?.kind === 'failure' && outcome.failure.reason === UNAVAILABLE ? PAUSE_SECONDS : 0;
    return async (tx) => {
      await tx.botTriggers.remove(realmId, botId, waiting.messageId);
      if (delivery && outcome) await this.finish(tx, delivery, outcome, prepared!);
      await this.scheduleNext(tx, realmId, botId, pause);
    };
  }

  async giveUp(
    tx: Transaction,
    { realmId, payload: { botId } }: Job<{ readonly botId: UserId }>,
    err: unknown,
  ): Promise<void> {
    const waiting = await tx.botTriggers.findFirst(realmId, botId);
    this.report('a message for an outgoing webhook was dropped', { realmId, botId, ...waiting, err });
    if (waiting) await tx.botTriggers.remove(realmId, botId, waiting.messageId);
    await this.scheduleNext(tx, realmId, botId, PAUSE_SECONDS);
  }

  private async scheduleNext(tx: Transaction, realmId: RealmId, botId: UserId, pause: number): Promise<void> {
    if ((await tx.botTriggers.findFirst(realmId, botId)) === null) return;
    await scheduleWebhook(tx, realmId, botId, this.clock.now() + pause);
  }

  /** Parses the bot's messages, which may be slow, before the unit of work. */
  private async prepareReply(delivery: WebhookDelivery, outcome: NonNullable<Outcome>): Promise<PreparedReply> {
    if (outcome.kind === 'failure') {
      return { reply: null, failure: await this.prepareMessage(delivery, textOf(outcome.failure)) };
    }
    const reply = await this.prepareMessage(delivery, outcome.reply);
    return { reply, failure: await this.prepareMessage(delivery, textOf({ reason: NOT_SENT })) };
  }

  private prepareMessage({ view, bot }: WebhookDelivery, { content, widget }: WebhookReply): Promise<PreparedMessage> {
    const { conversation, message } = view;
    return this.sending.prepare(callerOf(bot), {
      to:
        conversation.kind === 'channel'
          ? { kind: 'channelId', id: conversation.channelId }
          : { kind: 'userIds', ids: conversation.participants.map(({ id }) => id) },
      topic: message.topic,
      content,
      ...(widget !== null && { widget }),
    });
  }

  private async finish(
    tx: Transaction,
    delivery: WebhookDelivery,
    outcome: NonNullable<Outcome>,
    { reply, failure }: PreparedReply,
  ): Promise<void> {
    const caller = callerOf(delivery.bot);
    const { realmId, userId: botId } = caller;
    // The owner may have deactivated the bot during the request.
    if (!(await tx.users.find(realmId, botId))?.isActive) return;
    const refusal = reply && (await this.post(tx, caller, reply));
    if (reply && refusal === null) return;
    const { reason, details } =
      outcome.kind === 'failure'
        ? outcome.failure
        : { reason: NOT_SENT, details: `${NOT_SENT}:\n${quotedAsCode(refusal!)}` };
    await this.post(tx, caller, failure);
    await this.notices.send(tx, delivery, details);
    const { id: messageId } = delivery.view.message;
    this.report('an outgoing webhook failed', { realmId, botId, messageId, reason, refusal }, 'warn');
  }

  /** Returns the reason if the message may not be sent. */
  private async post(tx: Transaction, caller: Caller, prepared: PreparedMessage): Promise<string | null> {
    let checked: CheckedMessage;
    try {
      checked = await this.sending.check(tx, caller, prepared);
    } catch (error) {
      if (!(error instanceof DomainError) || error.kind === 'unavailable') throw error;
      return error.message;
    }
    await this.sending.send(tx, caller, checked, { isReadBySender: true, echo: null });
    return null;
  }
}

const NO_DIRECT_MESSAGES = "Slack outgoing webhooks don't support direct messages.";
const UNAVAILABLE = 'Bot is unavailable';
const NOT_SENT = 'The reply could not be sent';

const textOf = ({ reason }: Pick<Failure, 'reason'>): WebhookReply => ({ content: `Failure! ${reason}`, widget: null });

const failure = (reason: string, details = reason): Outcome => ({ kind: 'failure', failure: { reason, details } });

const refusalOf = ({ status }: WebhookResponse): string => `Third party responded with ${status}`;

const detailsOf = ({ status, text }: WebhookResponse): string =>
  `The webhook got a response with status code *${status}*.\n` +
  `The response contains the following payload:\n${quotedAsCode(text)}`;

/** Returns a code block that the text cannot end. Control characters of binary data are replaced. */
function quotedAsCode(text: string): string {
  const shown = takeCodePoints(text, MAX_QUOTED).replace(/(?![\n\t])\p{Cc}/gu, '\ufffd');
  const longest = Math.max(2, ...[...shown.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${shown}\n${fence}`;
}

const callerOf = ({ realmId, id: userId }: User): Caller => ({ realmId, userId, clientName: CLIENT_NAME });

function urlOf({ message, conversation }: MessageView): string {
  const narrow =
    conversation.kind === 'channel'
      ? topicUrl({ id: conversation.channelId, name: conversation.name }, message.topic)
      : conversationUrl(conversation.participants.map(({ id }) => id));
  return messageUrl(narrow, message.id);
}

interface LoadedDelivery {
  /** Null if the queue is empty. */
  readonly waiting: TriggeredBot | null;
  /** Null if the bot can no longer read the message, or the bot or its URL no longer exists. */
  readonly delivery: WebhookDelivery | null;
}

async function loadDelivery(reads: Repositories, realmId: RealmId, botId: UserId): Promise<LoadedDelivery> {
  const waiting = await reads.botTriggers.findFirst(realmId, botId);
  if (waiting === null) return { waiting, delivery: null };
  const nothing = { waiting, delivery: null };
  const realm = await reads.realms.get(realmId);
  const bot = await reads.users.find(realmId, botId);
  if (!bot?.isActive || realm.isDeactivated) return nothing;
  const { webhook } = getOrThrow(await reads.bots.listOptions(realmId, [botId]), botId);
  if (webhook === null || webhook.url === '') return nothing;
  const [view] = await reads.pages.listViews(realmId, [waiting.messageId]);
  if (!view) return nothing;
  const viewer = await reads.actors.get({ realmId, userId: botId });
  // The message may have moved to a channel that the bot cannot read.
  if (!(await isReadable(reads, viewer, waiting.messageId))) return nothing;
  const hidden = await inaccessibleUserIds(reads, viewer, realm, [view.sender.id]);
  const { trigger } = waiting;
  return { waiting, delivery: { realm, bot, viewer, webhook, trigger, view, isSenderVisible: hidden.size === 0 } };
}

async function isReadable(reads: Repositories, actor: Actor, id: MessageId): Promise<boolean> {
  const [loaded] = await loadMessages(reads, actor, [id]);
  return loaded !== undefined && canReadMessage(actor, loaded).allowed;
}

export interface PostIntegrationInput {
  /** Null for a direct message to the bot's owner. */
  readonly channel: { readonly id: ChannelId } | { readonly name: string } | null;
  readonly topic: string;
  /** Markdown; truncated if it is too long. */
  readonly content: string;
}

/** Posts a report from another service with the calling bot's permissions (organization §19). */
export class PostIntegration {
  static readonly inject = ['unitOfWork', MessageSender] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly sending: MessageSender,
  ) {}

  /**
   * An unknown channel only notifies the owner, since other services disable URLs that fail.
   * @throws DomainError the codes of `MessageSender` except UNKNOWN_DESTINATION
   */
  async execute(caller: Caller, { channel, topic, content }: PostIntegrationInput): Promise<void> {
    const to = channel === null ? await this.ownerOf(caller) : addresseeOf(channel);
    const markdown = cutMarkdown(content, MAX_MESSAGE_LENGTH);
    try {
      await this.sending.post(caller, { to, topic, content: markdown, isReadBySender: true, echo: null });
    } catch (error) {
      if (!(error instanceof DomainError && error.code === 'UNKNOWN_DESTINATION')) throw error;
    }
  }

  private ownerOf({ realmId, userId }: Caller): Promise<Addressee> {
    return this.uow.read(realmId, async ({ users }) => {
      const ownerId = (await users.find(realmId, userId))?.bot?.ownerId ?? userId;
      return { kind: 'userIds', ids: [ownerId] };
    });
  }
}

const addresseeOf = (channel: NonNullable<PostIntegrationInput['channel']>): Addressee =>
  'id' in channel ? { kind: 'channelId', id: channel.id } : { kind: 'channelName', name: channel.name };

/** Notifies the calling bot's owner of an unreadable request, at most once in five minutes. */
export class WarnIntegrationOwner {
  static readonly inject = [BotOwnerWarnings] as const;
  constructor(private readonly warnings: BotOwnerWarnings) {}

  execute(caller: Caller, whatHappened: string): Promise<void> {
    return this.warnings.warnOf(caller, whatHappened);
  }
}
