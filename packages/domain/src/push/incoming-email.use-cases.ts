import { recordBounce } from '../access/bounces.js';
import type { ChannelAddressKey } from '../channels/channel.js';
import { canPostSomewhere, loadPosting } from '../channels/post-permissions.js';
import { BlobReceiver } from '../files/blob-receiver.js';
import { inOneChunk } from '../files/blobs.js';
import { nameOfFile } from '../files/files.js';
import { NewFiles } from '../files/new-files.js';
import { DomainError } from '../kernel/errors.js';
import type { Caller, RealmId, UnixSeconds, UserId } from '../kernel/ids.js';
import type { Clock } from '../kernel/ports.js';
import type { Repositories, Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { firstOf, Removal } from '../kernel/work.js';
import type { User } from '../users/user.js';
import { canAdministerBot } from '../users/user-permissions.js';
import { type MessageDraft, MessageSender } from '../writing/message-sender.js';
import { postMessage } from '../writing/post-message.js';
import { SystemMessages } from '../writing/system-messages.js';
import {
  attachmentLink,
  bodyOf,
  composeContent,
  type EmailOptions,
  fateOf,
  fromLine,
  type IncomingAddress,
  type IncomingEmail,
  type IncomingEmailQuota,
  invitationText,
  type MailGateway,
  NO_EMAIL_OPTIONS,
  omittedLine,
  parseIncomingAddress,
  type ReplyAddress,
  topicOfSubject,
  unreadCalendarsLine,
  withoutWildcards,
} from './incoming-email.js';
import type { NotificationMeter } from './notifications.js';

/** `ignored`: sent by a program or by this server. `refused`: the user was notified with a direct message. */
export type EmailOutcome = 'posted' | 'ignored' | 'refused' | 'bounce';

export interface ReceiveEmailInput {
  /** Delivery address of the email; null to take it from the headers. */
  readonly recipient: string | null;
  /** Bytes of the email (RFC 5322). */
  readonly raw: AsyncIterable<Uint8Array>;
}

/** Channel of an address, with the users for whom messages are posted. */
interface ChannelTarget {
  readonly key: ChannelAddressKey;
  /** Human or bot who owns the attachments and needs permission to post. */
  readonly author: User;
  /** Null if `author` is shown as the sender. */
  readonly gatewayBot: User | null;
}

type Target =
  | {
      readonly kind: 'channel';
      readonly address: Extract<IncomingAddress, { kind: 'channel' }>;
      readonly channel: ChannelTarget;
    }
  | { readonly kind: 'reply'; readonly reply: ReplyAddress }
  | { readonly kind: 'bounce'; readonly key: string };

const CLIENT_NAME = 'Internal';
/** Maximum number of emails held in memory, counted in emails of maximum size. */
const MAX_EMAILS_HELD = 4;

const unknownAddress = () => new DomainError('UNKNOWN_EMAIL_ADDRESS', 'Nobody receives email at this address.');

function requireGateway(gateway: MailGateway | null): MailGateway {
  if (gateway) return gateway;
  throw new DomainError('NO_MAIL_GATEWAY', 'This server does not receive email.');
}

/** Resolves an address to its recipient, according to current rights. */
export class EmailAddresses {
  static readonly inject = ['unitOfWork', 'mailGateway', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly gateway: MailGateway | null,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError NO_MAIL_GATEWAY, UNKNOWN_EMAIL_ADDRESS */
  async find(recipient: string): Promise<Target> {
    const gateway = requireGateway(this.gateway);
    const address = parseIncomingAddress(gateway.pattern, recipient);
    switch (address?.kind) {
      case 'bounce':
        return { kind: 'bounce', key: address.key };
      case 'reply': {
        const reply = await gateway.replyKeys.find(address.key, (id) =>
          this.uow.readAcross(({ replyAddresses }) => replyAddresses.find(id)),
        );
        if (!reply || reply.expiresAt <= this.clock.now()) throw unknownAddress();
        await this.uow.read(reply.realmId, (reads) => requireActive(reads, reply.realmId, reply.userId));
        return { kind: 'reply', reply };
      }
      case 'channel': {
        const { token } = address;
        const key = await this.uow.readAcross(({ channelAddresses }) => channelAddresses.findByToken(token));
        if (!key) throw unknownAddress();
        const channel = await this.uow.read(key.realmId, (reads) => loadTarget(reads, key));
        return { kind: 'channel', address, channel };
      }
      default:
        throw unknownAddress();
    }
  }
}

async function requireActive(
  { realms, users }: Pick<Repositories | Transaction, 'realms' | 'users'>,
  realmId: RealmId,
  userId: UserId,
): Promise<User> {
  const user = await users.find(realmId, userId);
  if (!user?.isActive || (await realms.get(realmId)).isDeactivated) throw unknownAddress();
  return user;
}

async function loadTarget(reads: Repositories, key: ChannelAddressKey): Promise<ChannelTarget> {
  const { realmId, channelId, creatorId, senderId } = key;
  const bot = await reads.users.findSystemBot(realmId, 'mailGateway');
  const isGateway = senderId === bot.id;
  const author = await requireActive(reads, realmId, isGateway ? creatorId : senderId);
  if (author.id !== creatorId) await requireAdministrator(reads, key, author);
  const actor = await reads.actors.get({ realmId, userId: author.id });
  const channel = await reads.channels.find(realmId, channelId);
  // The rejection does not name a channel, since anybody may have sent the email.
  if (!channel || !canPostSomewhere(await loadPosting(reads, actor, channel, null)).allowed) throw unknownAddress();
  return { key, author, gatewayBot: isGateway ? bot : null };
}

/** The bot may have a new owner, and the creator of the address another role. @throws DomainError UNKNOWN_EMAIL_ADDRESS */
async function requireAdministrator(
  reads: Repositories,
  { realmId, creatorId }: ChannelAddressKey,
  bot: User,
): Promise<void> {
  await requireActive(reads, realmId, creatorId);
  const creator = await reads.actors.get({ realmId, userId: creatorId });
  if (!canAdministerBot(creator, bot).allowed) throw unknownAddress();
}

/** Lets mail servers check whether an address exists before they send an email. */
export class CheckEmailAddress {
  static readonly inject = [EmailAddresses] as const;
  constructor(private readonly addresses: EmailAddresses) {}

  /** @throws DomainError NO_MAIL_GATEWAY, UNKNOWN_EMAIL_ADDRESS */
  async execute(recipient: string): Promise<void> {
    await this.addresses.find(recipient);
  }
}

/** Attachments of emails, stored as files. */
export class EmailAttachments {
  static readonly inject = ['unitOfWork', BlobReceiver, NewFiles] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly blobs: BlobReceiver,
    private readonly files: NewFiles,
  ) {}

  /** Returns message lines: links, or the reasons why attachments are missing. */
  async store(caller: Caller, { attachments, omitted, unreadCalendars }: IncomingEmail): Promise<readonly string[]> {
    const lines: string[] = [];
    for (const { name: given, contentType: claimedType, bytes } of attachments) {
      const name = nameOfFile(given);
      try {
        const isTooLarge = bytes.length > this.blobs.maxBytes;
        const blob = isTooLarge ? null : await this.blobs.receive(inOneChunk(bytes));
        const { pathId } = await this.files.store(this.uow, caller, { blob, name, claimedType });
        lines.push(attachmentLink(name, pathId));
      } catch (error) {
        if (!(error instanceof DomainError) || error.kind === 'unavailable') throw error;
        lines.push(`(An attachment is missing: ${error.message})`);
      }
    }
    lines.push(omittedLine(omitted), unreadCalendarsLine(unreadCalendars));
    return lines.filter((line) => line !== '');
  }
}

/** Posts emails as messages. */
export class EmailPosts {
  static readonly inject = [
    'unitOfWork',
    'clock',
    'incomingEmailQuota',
    EmailAttachments,
    MessageSender,
    SystemMessages,
  ] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
    private readonly quota: IncomingEmailQuota,
    private readonly attachments: EmailAttachments,
    private readonly sending: MessageSender,
    private readonly systemMessages: SystemMessages,
  ) {}

  async postToChannel(
    email: IncomingEmail,
    { address: { options, token }, channel: { key, author, gatewayBot } }: Extract<Target, { kind: 'channel' }>,
  ): Promise<EmailOutcome> {
    const { realmId, channelId } = key;
    this.count(realmId, token, email);
    const caller = { realmId, userId: author.id, clientName: CLIENT_NAME };
    const from = options.showsSender ? fromLine(email.from) : null;
    const links = await this.attachments.store(caller, email);
    const draft: MessageDraft = {
      to: { kind: 'channelId', id: channelId },
      topic: await this.topicFor(key, email.subject),
      content: composeContent(withoutWildcards(textOf(email, options, 'channel')), from, links.map(withoutWildcards)),
    };
    const prepared = await this.sending.prepare(caller, await this.sending.review.ask(caller, draft));
    await this.uow.write(realmId, async (tx) => {
      const checked = await this.sending.check(tx, caller, prepared);
      const { destination, content, rendered } = checked;
      if (gatewayBot === null || destination.kind !== 'channel') {
        return this.sending.send(tx, caller, checked, { isReadBySender: false, echo: null });
      }
      const post = { sender: gatewayBot, attachingUser: author, destination, content, rendered };
      return postMessage(tx, { ...post, clientName: CLIENT_NAME, sentAt: this.clock.now(), isReadBySender: false });
    });
    return 'posted';
  }

  private topicFor({ realmId, channelId }: ChannelAddressKey, subject: string): Promise<string> {
    return this.uow.read(realmId, async ({ channels }) => {
      const channel = await channels.find(realmId, channelId);
      return channel?.topicsPolicy === 'emptyTopicOnly' ? '' : topicOfSubject(subject);
    });
  }

  async postReply(email: IncomingEmail, { id, realmId, userId, messageId }: ReplyAddress): Promise<EmailOutcome> {
    this.count(realmId, String(id), email);
    const caller = { realmId, userId, clientName: CLIENT_NAME };
    const view = await this.uow.read(realmId, async ({ pages }) => (await pages.listViews(realmId, [messageId]))[0]);
    const refuse = (where: string, why: string) => this.notify(caller, where, why);
    if (!view) return refuse('this conversation', 'The message was deleted.');
    const { conversation, message } = view;
    const links = await this.attachments.store(caller, email);
    const content = composeContent(textOf(email, NO_EMAIL_OPTIONS, 'reply'), null, links);
    const others = conversation.kind === 'direct' ? conversation.participants.filter((one) => one.id !== userId) : [];
    const ids = (others.length === 0 ? [{ id: userId }] : others).map((one) => one.id);
    try {
      await this.sending.post(caller, {
        to:
          conversation.kind === 'channel'
            ? { kind: 'channelId', id: conversation.channelId }
            : { kind: 'userIds', ids },
        topic: message.topic,
        content,
        isReadBySender: true,
        echo: null,
      });
    } catch (error) {
      if (!(error instanceof DomainError) || error.kind === 'unavailable') throw error;
      // A user who can no longer post there may not be allowed to know its current name.
      return refuse(conversation.kind === 'channel' ? 'a channel' : 'a direct conversation', error.message);
    }
    return 'posted';
  }

  private async notify({ realmId, userId }: Caller, where: string, why: string): Promise<EmailOutcome> {
    await this.uow.write(realmId, async (tx) => {
      const realm = await tx.realms.get(realmId);
      const user = await tx.users.get(realmId, userId);
      const actor = await tx.actors.get({ realmId, userId });
      const text = `Error sending message to ${where} via message notification email reply:\n${why}`;
      await this.systemMessages.sendDirect(tx, realm, user, text, { actor });
    });
    return 'refused';
  }

  private count(realmId: RealmId, address: string, { from }: IncomingEmail): void {
    this.quota.take('incomingEmailByRealm', String(realmId));
    this.quota.take('incomingEmailByAddress', address);
    this.quota.take('incomingEmailBySender', from.address.toLowerCase(), address);
  }
}

/** Posts an email to the channel or conversation of its address. */
export class ReceiveEmail {
  static readonly inject = [
    'unitOfWork',
    'clock',
    'mailGateway',
    'notificationMeter',
    EmailAddresses,
    EmailPosts,
  ] as const;

  private heldBytes = 0;

  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
    private readonly gateway: MailGateway | null,
    private readonly meter: NotificationMeter,
    private readonly addresses: EmailAddresses,
    private readonly posts: EmailPosts,
  ) {}

  /**
   * @throws DomainError NO_MAIL_GATEWAY, UNKNOWN_EMAIL_ADDRESS, EMAIL_TOO_LARGE, UNREADABLE_EMAIL, RATE_LIMITED,
   * SERVER_BUSY; for channels the codes of `MessageSender`
   */
  async execute({ recipient, raw }: ReceiveEmailInput): Promise<EmailOutcome> {
    const deliveries: PromiseSettledResult<EmailOutcome>[] = [];
    for await (const delivery of this.deliver(raw, [recipient])) deliveries.push(delivery);
    const delivery = firstOf(deliveries);
    if (delivery.status === 'rejected') throw delivery.reason;
    return delivery.value;
  }

  /** Reads an email once, and delivers it to one recipient after the other, as `execute` does. */
  async *deliver(
    raw: AsyncIterable<Uint8Array>,
    recipients: readonly (string | null)[],
  ): AsyncGenerator<PromiseSettledResult<EmailOutcome>> {
    const held = { bytes: 0 };
    try {
      const reading = this.read(raw, held);
      for (const recipient of recipients) {
        const [delivery] = await Promise.allSettled([reading.then((email) => this.post(email, recipient))]);
        this.meter.received(delivery.status === 'fulfilled' ? delivery.value : 'failed');
        yield delivery;
      }
    } finally {
      this.heldBytes -= held.bytes;
    }
  }

  private async read(raw: AsyncIterable<Uint8Array>, held: { bytes: number }): Promise<IncomingEmail> {
    const gateway = requireGateway(this.gateway);
    return gateway.parser.parse(await this.collect(raw, gateway.maxBytes, held));
  }

  private async post(email: IncomingEmail, recipient: string | null): Promise<EmailOutcome> {
    const gateway = requireGateway(this.gateway);
    const target = await this.addresses.find(recipient ?? recipientIn(email, gateway.pattern));
    if (target.kind === 'bounce') return this.takeBounce(gateway, email, target.key);
    if (fateOf(email, target.kind, gateway.fingerprint) !== 'accepted') return 'ignored';
    return target.kind === 'reply'
      ? this.posts.postReply(email, target.reply)
      : this.posts.postToChannel(email, target);
  }

  private async collect(
    raw: AsyncIterable<Uint8Array>,
    maxBytes: number,
    held: { bytes: number },
  ): Promise<Uint8Array> {
    const chunks: Uint8Array[] = [];
    for await (const chunk of raw) {
      held.bytes += chunk.length;
      this.heldBytes += chunk.length;
      if (held.bytes > maxBytes) throw new DomainError('EMAIL_TOO_LARGE', 'The email is too large.');
      if (this.heldBytes > MAX_EMAILS_HELD * maxBytes) {
        throw new DomainError('SERVER_BUSY', 'Too many emails arrive at the moment.', { retryAfter: 60 });
      }
      chunks.push(chunk);
    }
    const bytes = new Uint8Array(held.bytes);
    let at = 0;
    for (const chunk of chunks) {
      bytes.set(chunk, at);
      at += chunk.length;
    }
    return bytes;
  }

  private async takeBounce(gateway: MailGateway, { failures }: IncomingEmail, key: string): Promise<EmailOutcome> {
    // The key proves that this server sent an email to the address.
    const failed = (failures ?? []).find(({ address }) => gateway.bounceKeyOf(address) === key);
    if (!failed) return 'ignored';
    await recordBounce(this.uow, failed.address, failed.reason, this.clock.now());
    return 'bounce';
  }
}

const textOf = (email: IncomingEmail, options: EmailOptions, kind: 'channel' | 'reply'): string =>
  [...email.invitations.map(invitationText), bodyOf(email, options, kind)].filter((text) => text !== '').join('\n\n');

/** Returns the first gateway address in the headers. @throws DomainError UNKNOWN_EMAIL_ADDRESS */
function recipientIn({ recipients }: IncomingEmail, pattern: string): string {
  const found = recipients.find((address) => parseIncomingAddress(pattern, address) !== null);
  if (found === undefined) throw unknownAddress();
  return found;
}

/** Authenticates programs that deliver email over HTTP. */
export class VerifyGatewayToken {
  static readonly inject = ['mailGateway'] as const;
  constructor(private readonly gateway: MailGateway | null) {}

  /** @throws DomainError NO_MAIL_GATEWAY, WRONG_GATEWAY_TOKEN */
  execute(token: string): void {
    if (requireGateway(this.gateway).isGatewayToken(token)) return;
    throw new DomainError('WRONG_GATEWAY_TOKEN', 'The token of the mail gateway is wrong.');
  }
}

/** Removes a channel address. Users get a new one on their next request. */
export class RevokeEmailAddress {
  static readonly inject = ['unitOfWork', 'serverChannelConfig'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly config: { readonly mailGatewayPattern: string | null },
  ) {}

  /** Returns false if the address does not exist. */
  async execute(address: string): Promise<boolean> {
    const { mailGatewayPattern: pattern } = this.config;
    const parsed = pattern === null ? null : parseIncomingAddress(pattern, address);
    const token = parsed?.kind === 'channel' ? parsed.token : null;
    const key = token && (await this.uow.readAcross(({ channelAddresses }) => channelAddresses.findByToken(token)));
    if (!key) return false;
    await this.uow.write(key.realmId, (tx) => tx.channelAddresses.remove(key));
    return true;
  }
}

/** Removes expired reply addresses. */
export class RemoveExpiredReplyAddresses extends Removal {
  protected remove(tx: Transaction, now: UnixSeconds, limit: number): Promise<number> {
    return tx.replyAddresses.removeExpired(now, limit);
  }
}
