import type { Channel } from '../channels/channel.js';
import { type ChannelNotice, configuredChannel, type NotificationBot } from '../channels/channel-notices.js';
import type { GroupNotices, MembershipNotice } from '../groups/group.js';
import { hasPassed } from '../kernel/clock-watch.js';
import { DomainError, orThrow } from '../kernel/errors.js';
import { type Caller, type GroupId, isId, type UnixSeconds, type UserId } from '../kernel/ids.js';
import { encodeJob, type Job, type JobHandler, type JobWork, jobKind } from '../kernel/jobs.js';
import type { Clock, RealmUrls } from '../kernel/ports.js';
import type { Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { slicesOf } from '../kernel/work.js';
import {
  type Author,
  channelLink,
  type MarkdownOptions,
  type MarkdownRenderer,
  type ParsedAhead,
  type ParsedMarkdown,
  silentMention,
} from '../markdown/markdown.js';
import { type Message, parseContent } from '../messages/message.js';
import type { Realm } from '../realms/realm.js';
import type { SystemBotKind, User } from '../users/user.js';
import { type Destination, postMessage } from './post-message.js';
import { markdownOptions, parseAhead, type RenderedText, renderText } from './render-message.js';

const SIGNUP_TOPIC = 'signups';
const CLIENT_NAME = 'Internal';

const introduction = (realm: Realm, newcomer: User): string =>
  [
    `Hello ${silentMention(newcomer)}, and welcome to **${realm.name}**!`,
    'Messages live in channels, and in each channel under a topic that says what they are about, so you can follow what ' +
      'matters to you and skip the rest.',
    'Open a channel and read a topic or two, answer where you have something to say, and begin a topic of your own when ' +
      'you bring up something new.',
  ].join('\n\n');

/** Custom welcome message in parsed form. */
export interface WelcomeText {
  readonly text: string;
  readonly ahead: ParsedAhead;
}

/** Content of a message by a system bot. */
interface BotText {
  readonly text: string;
  readonly author: Author;
  /** Parsed content, or parsed text quoted in the content. */
  readonly ahead?: ParsedMarkdown | undefined;
}

/** Rendered message without a destination. */
interface Draft {
  readonly content: string;
  readonly rendered: RenderedText;
  readonly linksToTopics: boolean;
}

/** Sends messages from the realm's system bots, inside the unit of work of the change that causes them. */
export class SystemMessages implements NotificationBot {
  static readonly inject = ['markdownRenderer', 'realmUrls', 'clock'] as const;
  constructor(
    private readonly renderer: MarkdownRenderer,
    private readonly realmUrls: RealmUrls,
    private readonly clock: Clock,
  ) {}

  sendToChannel(
    tx: Transaction,
    realm: Realm,
    { author, ...notice }: ChannelNotice & { readonly author: Author },
  ): Promise<void> {
    return this.postAll(tx, realm, author, [notice]);
  }

  async postAll(
    tx: Transaction,
    realm: Realm,
    author: Author,
    systemMessages: readonly ChannelNotice[],
    sender: SystemBotKind = 'notification',
  ): Promise<void> {
    const bot = await tx.users.findSystemBot(realm.id, sender);
    const drafts = new Map<string, Draft>();
    for (const { channel, topic, content, ahead, ...reading } of systemMessages) {
      const draft = drafts.get(content) ?? (await this.draft(tx, realm, content, author, ahead));
      // Topic links point to the newest message, which may be the previous notice, so these texts are rendered again.
      if (!draft.linksToTopics) drafts.set(content, draft);
      // The empty topic is used only if the channel allows no other (channels §5.2).
      const topicName = channel.topicsPolicy === 'emptyTopicOnly' ? '' : topic;
      const topicLinks = this.renderer.topicLinks(topicName, realm.linkifiers);
      const destination: Destination = { kind: 'channel', channel, topic: topicName, topicLinks };
      await this.send(tx, bot, destination, draft, reading);
    }
  }

  async parseNotice(realm: Realm, content: string): Promise<ParsedMarkdown | undefined> {
    const parsed = await this.parse(realm, content);
    return parsed instanceof DomainError ? undefined : parsed;
  }

  /** `ahead`: the parsed content, or parsed text quoted in the content. */
  async sendDirect(
    tx: Transaction,
    realm: Realm,
    person: User,
    content: string,
    author: Author,
    ahead?: ParsedMarkdown,
  ): Promise<void> {
    await this.sendDirectAs('notification', tx, realm, person, { text: content, author, ahead });
  }

  /** Runs before the unit of work, because code and formulas may take time. */
  parse(realm: Realm, content: string): Promise<ParsedAhead> {
    return parseAhead(this.renderer, content, this.optionsOf(realm));
  }

  /** Returns the content as rendered HTML without sending it. */
  async preview(
    tx: Transaction,
    realm: Realm,
    content: string,
    author: Author,
    ahead: ParsedMarkdown,
  ): Promise<string> {
    return (await this.draft(tx, realm, content, author, ahead)).rendered.html;
  }

  /** Sends the same text to each user in a separate conversation; renders it once. */
  async sendDirectToAll(
    tx: Transaction,
    realm: Realm,
    people: readonly User[],
    content: string,
    author: Author,
  ): Promise<void> {
    const bot = await tx.users.findSystemBot(realm.id, 'notification');
    const draft = await this.draft(tx, realm, content, author, undefined);
    for (const person of people) {
      const participants = [bot, person].sort((a, b) => a.id - b.id);
      const recipientId = await tx.recipients.openDirect(
        realm.id,
        participants.map((one) => one.id),
      );
      await this.send(tx, bot, { kind: 'direct', recipientId, participants }, draft);
    }
  }

  /**
   * Parses the welcome message before the unit of work; null if there is none. `text` overrides the realm's setting;
   * null uses the setting.
   */
  async parseWelcome(realm: Realm, text: string | null = null): Promise<WelcomeText | null> {
    const words = text ?? realm.settings.welcomeMessageCustomText;
    return words === '' ? null : { text: words, ahead: await this.parse(realm, words) };
  }

  /**
   * Sends the starred initial direct messages to a new user (organization §10.4). Skips a custom welcome message that
   * cannot be rendered, since it would otherwise block sign-up.
   */
  async sendWelcome(tx: Transaction, realm: Realm, newcomer: User, words: WelcomeText | null): Promise<void> {
    // An administrator may have written the text long ago, so it is rendered with the new user's access and reveals
    // nothing beyond it.
    const actor = await tx.actors.get({ realmId: realm.id, userId: newcomer.id });
    const author = { actor };
    const sent = [
      await this.sendDirectAs('welcome', tx, realm, newcomer, { text: introduction(realm, newcomer), author }),
    ];
    if (words !== null && !(words.ahead instanceof DomainError)) {
      sent.push(
        await this.sendDirectAs('welcome', tx, realm, newcomer, { text: words.text, author, ahead: words.ahead }),
      );
    }
    for (const { id } of sent) {
      await tx.personal.setFlag({ realmId: realm.id, userId: newcomer.id }, [id], 'starred', true);
    }
  }

  /**
   * Renders the welcome message as new users would see it (organization §10.6). @throws DomainError
   * UNRENDERABLE_CONTENT
   */
  async sendTestWelcome(tx: Transaction, realm: Realm, person: User, { text, ahead }: WelcomeText): Promise<Message> {
    const actor = await tx.actors.get({ realmId: realm.id, userId: person.id });
    return this.sendDirectAs('welcome', tx, realm, person, { text, author: { actor }, ahead: orThrow(ahead) });
  }

  private async sendDirectAs(
    kind: SystemBotKind,
    tx: Transaction,
    realm: Realm,
    person: User,
    { text, author, ahead }: BotText,
  ): Promise<Message> {
    const bot = await tx.users.findSystemBot(realm.id, kind);
    const participants = [bot, person].sort((a, b) => a.id - b.id);
    const recipientId = await tx.recipients.openDirect(
      realm.id,
      participants.map((one) => one.id),
    );
    const draft = await this.draft(tx, realm, text, author, ahead);
    const message = await this.send(tx, bot, { kind: 'direct', recipientId, participants }, draft);
    return message;
  }

  /** Announces the new user in the configured channel (users §3.1). */
  async announceSignup(tx: Transaction, realm: Realm, newcomer: User): Promise<void> {
    const channel = await configuredChannel(tx, realm, realm.settings.signupAnnouncementsChannelId);
    if (!channel) return;
    await this.sendToChannel(tx, realm, {
      channel,
      topic: SIGNUP_TOPIC,
      content: `${silentMention(newcomer)} joined this organization.`,
      // User names cannot contain other references.
      author: { actor: null },
    });
  }

  private async draft(
    tx: Transaction,
    realm: Realm,
    text: string,
    author: Author,
    ahead: ParsedMarkdown | undefined,
  ): Promise<Draft> {
    const content = parseContent(text);
    const parsed = this.renderer.parseNow(content, this.optionsOf(realm), ahead);
    const rendered = await renderText(tx, this.renderer, parsed, realm, author);
    return { content, rendered, linksToTopics: parsed.references.topics.length > 0 };
  }

  private send(
    tx: Transaction,
    sender: User,
    destination: Destination,
    { content, rendered }: Draft,
    reading: Pick<ChannelNotice, 'readFor' | 'unreadFor' | 'isReadByDefault'> = {},
  ): Promise<Message> {
    return postMessage(tx, {
      sender,
      destination,
      content,
      rendered,
      clientName: CLIENT_NAME,
      sentAt: this.clock.now(),
      isReadBySender: false,
      ...reading,
    });
  }

  private optionsOf(realm: Realm): MarkdownOptions {
    return markdownOptions(realm, this.realmUrls.urlOf(realm));
  }
}

/** Maximum number of notices per unit of work, to limit the delay of other writes. */
export const NOTICES_AT_A_TIME = 100;

interface NoticePayload {
  readonly op: 'add' | 'remove';
  readonly byId: UserId;
  readonly groupId: GroupId;
  readonly userIds: readonly UserId[];
}

export const MEMBERSHIP_NOTICE_JOB = jobKind<NoticePayload>({
  name: 'messages.group_membership_notice',
  readPayload: (stored) => {
    const { op, byId, groupId, userIds } = stored as Partial<NoticePayload>;
    if ((op !== 'add' && op !== 'remove') || ![byId, groupId, ...(userIds ?? [null])].every(isId)) {
      throw new Error('Job payload has no group change');
    }
    return { op, byId: byId!, groupId: groupId!, userIds: userIds! };
  },
  concurrency: 1,
});

/**
 * Sends each user a direct message from the notification bot (users §12.4). Small changes send within the unit of work
 * that changes the group; large changes use later units.
 */
export class GroupMembershipNotices implements GroupNotices {
  static readonly inject = [SystemMessages, 'clock'] as const;
  constructor(
    private readonly systemMessages: SystemMessages,
    private readonly clock: Clock,
  ) {}

  async send(tx: Transaction, realm: Realm, notice: MembershipNotice): Promise<void> {
    const { op, by, group, people } = notice;
    if (people.length <= NOTICES_AT_A_TIME) return this.sendNow(tx, realm, notice);
    const dueAt = this.clock.now();
    for (const some of slicesOf(people, NOTICES_AT_A_TIME)) {
      const payload = { op, byId: by.id, groupId: group.id, userIds: some.map(({ id }) => id) };
      await tx.jobs.schedule(encodeJob(MEMBERSHIP_NOTICE_JOB, { realmId: realm.id, dueAt, payload }));
    }
  }

  async sendNow(tx: Transaction, realm: Realm, { op, actor, by, group, people }: MembershipNotice): Promise<void> {
    const done = op === 'add' ? 'added you to' : 'removed you from';
    const content = `${silentMention(by)} ${done} the group @_*${group.name}*.`;
    // Group names may contain Markdown, such as a channel link.
    await this.systemMessages.sendDirectToAll(tx, realm, people, content, { actor });
  }
}

/** Sends the notices of a large change in batches. */
export class SendGroupMembershipNotices implements JobHandler<NoticePayload> {
  static readonly inject = [GroupMembershipNotices] as const;

  readonly kind = MEMBERSHIP_NOTICE_JOB;

  constructor(private readonly notices: GroupMembershipNotices) {}

  async prepare({ realmId, payload: { op, byId, groupId, userIds } }: Job<NoticePayload>): Promise<JobWork> {
    return async (tx) => {
      const realm = await tx.realms.get(realmId);
      const group = await tx.groups.find(realmId, groupId);
      const by = await tx.users.find(realmId, byId);
      // Sends nothing if the realm, the group or the acting user was deleted or deactivated.
      if (realm.isDeactivated || !group || !by?.isActive) return;
      const people = (await tx.users.list(realmId, userIds)).filter(({ isActive }) => isActive);
      const actor = await tx.actors.get({ realmId, userId: byId });
      await this.notices.sendNow(tx, realm, { op, actor, by, group, people });
    };
  }
}

/** Minimum number of seconds between two warnings. */
const PAUSE = 300;
/** Maximum number of remembered bots. If more bots send within one interval, owners may be warned again early. */
const MAX_REMEMBERED = 10_000;

/**
 * Warns a bot's owner, at most once per five minutes, that the bot's messages have no recipients (messages §3.2). State
 * is kept in memory, so a restart may cause an extra notice.
 */
export class BotOwnerWarnings {
  static readonly inject = ['unitOfWork', SystemMessages, 'clock'] as const;

  private readonly warnedAt = new Map<UserId, UnixSeconds>();

  constructor(
    private readonly uow: UnitOfWork,
    private readonly systemMessages: SystemMessages,
    private readonly clock: Clock,
  ) {}

  /** Runs after the rejected send, in its own unit of work. Does nothing if the caller is not a bot. */
  async warnOfUnknownChannel(caller: Caller, name: string): Promise<void> {
    // Quoted as code, since the bot may choose any text.
    const quoted = `\`${name.replaceAll('`', "'")}\``;
    await this.warnOf(caller, `tried to send a message to the channel ${quoted}, but there is no such channel.`);
  }

  /**
   * Sends a notice that begins with "Your bot" and continues with `whatHappened`, in its own unit of work. Does nothing
   * if the caller is not a bot.
   */
  async warnOf(caller: Caller, whatHappened: string): Promise<void> {
    const sender = await this.uow.read(caller.realmId, ({ users }) => users.find(caller.realmId, caller.userId));
    if (!sender?.bot || !this.isDue(sender.id)) return;
    await this.uow.write(caller.realmId, async (tx) => {
      if (this.isDue(sender.id)) await this.warn(tx, caller, whatHappened, []);
    });
  }

  /** Expects a bot as the caller, after it sent a message to the channel. */
  async warnOfNoSubscribers(tx: Transaction, caller: Caller, channel: Channel): Promise<void> {
    if (!this.isDue(caller.userId) || (await tx.channels.countSubscribers(caller.realmId, channel.id)) > 0) return;
    const whatHappened = `sent a message to ${channelLink(channel)}, but nobody is subscribed to this channel.`;
    await this.warn(tx, caller, whatHappened, [channel]);
  }

  private isDue(botId: UserId): boolean {
    const warnedAt = this.warnedAt.get(botId);
    return warnedAt === undefined || hasPassed(warnedAt, PAUSE, this.clock.now());
  }

  private async warn(
    tx: Transaction,
    { realmId, userId }: Caller,
    whatHappened: string,
    about: readonly Channel[],
  ): Promise<void> {
    const bot = await tx.users.get(realmId, userId);
    const ownerId = bot.bot?.ownerId ?? null;
    const owner = ownerId === null ? null : await tx.users.find(realmId, ownerId);
    if (!owner?.isActive) return;
    this.markWarned(tx, userId);
    const realm = await tx.realms.get(realmId);
    const actor = await tx.actors.get({ realmId, userId: owner.id });
    await this.systemMessages.sendDirect(tx, realm, owner, `Your bot ${silentMention(bot)} ${whatHappened}`, {
      actor,
      about,
    });
  }

  /** Marks the bot within the unit of work, so that another one in the same batch does not warn again. */
  private markWarned(tx: Transaction, botId: UserId): void {
    const now = this.clock.now();
    // Entries are in insertion order, so expired ones come first.
    for (const [id, at] of this.warnedAt) {
      if (!hasPassed(at, PAUSE, now) && this.warnedAt.size < MAX_REMEMBERED) break;
      this.warnedAt.delete(id);
    }
    this.warnedAt.set(botId, now);
    tx.onRollback(() => this.warnedAt.delete(botId));
  }
}
