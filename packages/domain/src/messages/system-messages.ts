import type { Channel } from '../channels/channel.js';
import { type ChannelNotice, configuredChannel, type NotificationBot } from '../channels/channel-notices.js';
import type { GroupNotices, MembershipNotice } from '../groups/group.js';
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
import type { Realm } from '../realms/realm.js';
import type { SystemBotKind, User } from '../users/user.js';
import { type Message, parseContent } from './message.js';
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

/** Words of welcome that administrators chose, and what they were parsed into. */
export interface WelcomeText {
  readonly text: string;
  readonly ahead: ParsedAhead;
}

/** A text that only lacks its destination. */
interface Draft {
  readonly content: string;
  readonly rendered: RenderedText;
  readonly linksToTopics: boolean;
}

/** What the realm's own bots say when something happens. Runs inside the unit of what happened. */
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
  ): Promise<void> {
    const bot = await tx.users.findSystemBot(realm.id, 'notification');
    const drafts = new Map<string, Draft>();
    for (const { channel, topic, content, ahead, ...reading } of systemMessages) {
      const draft = drafts.get(content) ?? (await this.draft(tx, realm, content, author, ahead));
      // Links to topics lead to the newest message there, which may be the notice before.
      if (!draft.linksToTopics) drafts.set(content, draft);
      // Only where the channel has no other topic does the notice go without one (channels §5.2).
      const place = channel.topicsPolicy === 'emptyTopicOnly' ? '' : topic;
      const topicLinks = this.renderer.topicLinks(place, realm.linkifiers);
      const destination: Destination = { kind: 'channel', channel, topic: place, topicLinks };
      await this.send(tx, bot, destination, draft, reading);
      await tx.yield();
    }
  }

  async parseNotice(realm: Realm, content: string): Promise<ParsedMarkdown | undefined> {
    const parsed = await this.parse(realm, content);
    return parsed instanceof DomainError ? undefined : parsed;
  }

  /** `ahead`: what `parse` made of the content, or of what it quotes. */
  async sendDirect(
    tx: Transaction,
    realm: Realm,
    person: User,
    content: string,
    author: Author,
    ahead?: ParsedMarkdown,
  ): Promise<void> {
    await this.sendDirectAs('notification', tx, realm, person, content, author, ahead);
  }

  /** Before the unit: only there is time for code and formulas. */
  parse(realm: Realm, content: string): Promise<ParsedAhead> {
    return parseAhead(this.renderer, content, this.optionsOf(realm));
  }

  /** What a message would show that says this, as HTML. */
  async preview(
    tx: Transaction,
    realm: Realm,
    content: string,
    author: Author,
    ahead: ParsedMarkdown,
  ): Promise<string> {
    return (await this.draft(tx, realm, content, author, ahead)).rendered.html;
  }

  /** The same text to each in a conversation of their own; it is made into a message once. */
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
      await tx.yield();
    }
  }

  /**
   * Words of welcome, parsed before the unit. Null: none. `text`: instead of the realm's own; null: those.
   */
  async parseWelcome(realm: Realm, text: string | null = null): Promise<WelcomeText | null> {
    const words = text ?? realm.settings.welcomeMessageCustomText;
    return words === '' ? null : { text: words, ahead: await this.parse(realm, words) };
  }

  /**
   * What a newcomer finds, starred, in their first conversation (organization §10.4). Words of welcome are left out where
   * they cannot be rendered: nobody could join otherwise.
   */
  async sendWelcome(tx: Transaction, realm: Realm, newcomer: User, words: WelcomeText | null): Promise<void> {
    // An administrator wrote them, perhaps long ago; nothing in them may show the newcomer more than they can find.
    const actor = await tx.actors.get({ realmId: realm.id, userId: newcomer.id });
    const sent = [await this.sendDirectAs('welcome', tx, realm, newcomer, introduction(realm, newcomer), { actor })];
    if (words !== null && !(words.ahead instanceof DomainError)) {
      sent.push(await this.sendDirectAs('welcome', tx, realm, newcomer, words.text, { actor }, words.ahead));
    }
    for (const { id } of sent) {
      await tx.personal.setFlag({ realmId: realm.id, userId: newcomer.id }, [id], 'starred', true);
    }
  }

  /** As newcomers would see it (organization §10.6). @throws DomainError UNRENDERABLE_CONTENT */
  async sendTestWelcome(tx: Transaction, realm: Realm, person: User, { text, ahead }: WelcomeText): Promise<Message> {
    const actor = await tx.actors.get({ realmId: realm.id, userId: person.id });
    return this.sendDirectAs('welcome', tx, realm, person, text, { actor }, orThrow(ahead));
  }

  private async sendDirectAs(
    kind: SystemBotKind,
    tx: Transaction,
    realm: Realm,
    person: User,
    content: string,
    author: Author,
    ahead?: ParsedMarkdown,
  ): Promise<Message> {
    const bot = await tx.users.findSystemBot(realm.id, kind);
    const participants = [bot, person].sort((a, b) => a.id - b.id);
    const recipientId = await tx.recipients.openDirect(
      realm.id,
      participants.map((one) => one.id),
    );
    const draft = await this.draft(tx, realm, content, author, ahead);
    const message = await this.send(tx, bot, { kind: 'direct', recipientId, participants }, draft);
    await tx.yield();
    return message;
  }

  /** Where the organization wants newcomers announced (users §3.1). */
  async announceSignup(tx: Transaction, realm: Realm, newcomer: User): Promise<void> {
    const channel = await configuredChannel(tx, realm, realm.settings.signupAnnouncementsChannelId);
    if (!channel) return;
    await this.sendToChannel(tx, realm, {
      channel,
      topic: SIGNUP_TOPIC,
      content: `${silentMention(newcomer)} joined this organization.`,
      // Names hold nothing that could name anything else.
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

/** So many are sent in one unit: others would have to wait for longer ones. */
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
      throw new Error('It says nothing of a group');
    }
    return { op, byId: byId!, groupId: groupId!, userIds: userIds! };
  },
  concurrency: 1,
});

/**
 * A direct message to each, by the notification bot (users §12.4): in the unit that changes the group, or, where they are many,
 * in units of their own that follow it.
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
    // A group may be called anything, such as what links to a channel.
    await this.systemMessages.sendDirectToAll(tx, realm, people, content, { actor });
  }
}

/** Sends those of a large change, so many at a time. */
export class SendGroupMembershipNotices implements JobHandler<NoticePayload> {
  static readonly inject = [GroupMembershipNotices] as const;

  readonly kind = MEMBERSHIP_NOTICE_JOB;

  constructor(private readonly notices: GroupMembershipNotices) {}

  async prepare({ realmId, payload: { op, byId, groupId, userIds } }: Job<NoticePayload>): Promise<JobWork> {
    return async (tx) => {
      const realm = await tx.realms.get(realmId);
      const group = await tx.groups.find(realmId, groupId);
      const by = await tx.users.find(realmId, byId);
      // Nobody is notified once the organization, the group or the acting user is gone.
      if (realm.isDeactivated || !group || !by?.isActive) return;
      const people = (await tx.users.list(realmId, userIds)).filter(({ isActive }) => isActive);
      const actor = await tx.actors.get({ realmId, userId: byId });
      await this.notices.sendNow(tx, realm, { op, actor, by, group, people });
    };
  }
}

/** In seconds. */
const PAUSE = 300;
/** Bots; with more of them in one pause the owners of the first ones may be warned again. */
const MAX_REMEMBERED = 10_000;

/**
 * Warns a bot's owner that it sends where nobody receives it, at most once in five minutes for each bot (messages §3.2).
 * When it did so last is known to this process only: a restart may make it one notice more.
 */
export class BotOwnerWarnings {
  static readonly inject = ['unitOfWork', SystemMessages, 'clock'] as const;

  private readonly warnedAt = new Map<UserId, UnixSeconds>();

  constructor(
    private readonly uow: UnitOfWork,
    private readonly systemMessages: SystemMessages,
    private readonly clock: Clock,
  ) {}

  /** After the refusal, which changes nothing else. Does nothing where the caller is no bot. */
  async warnOfUnknownChannel(caller: Caller, name: string): Promise<void> {
    const sender = await this.uow.read(({ users }) => users.find(caller.realmId, caller.userId));
    if (!sender?.bot || !this.isDue(sender.id)) return;
    // As code, because it is whatever the bot made of it.
    const quoted = `\`${name.replaceAll('`', "'")}\``;
    await this.uow.write(async (tx) => {
      if (!this.isDue(sender.id)) return;
      const whatHappened = `tried to send a message to the channel ${quoted}, but there is no such channel.`;
      await this.warn(tx, caller, whatHappened, []);
    });
  }

  /** The caller is a bot that has sent a message to the channel. */
  async warnOfNoSubscribers(tx: Transaction, caller: Caller, channel: Channel): Promise<void> {
    if (!this.isDue(caller.userId) || (await tx.channels.countSubscribers(caller.realmId, channel.id)) > 0) return;
    const whatHappened = `sent a message to ${channelLink(channel)}, but nobody is subscribed to this channel.`;
    await this.warn(tx, caller, whatHappened, [channel]);
  }

  private isDue(botId: UserId): boolean {
    const warnedAt = this.warnedAt.get(botId);
    return warnedAt === undefined || this.clock.now() - warnedAt >= PAUSE;
  }

  private async warn(
    tx: Transaction,
    { realmId, userId }: Caller,
    whatHappened: string,
    about: readonly Channel[],
  ): Promise<void> {
    const bot = (await tx.users.find(realmId, userId))!;
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

  /** Within the unit: another one of the same batch must not warn as well. */
  private markWarned(tx: Transaction, botId: UserId): void {
    const now = this.clock.now();
    // In the order of time, so that those come first of whom nothing has to be known any more.
    for (const [id, at] of this.warnedAt) {
      if (now - at < PAUSE && this.warnedAt.size < MAX_REMEMBERED) break;
      this.warnedAt.delete(id);
    }
    this.warnedAt.set(botId, now);
    tx.onRollback(() => this.warnedAt.delete(botId));
  }
}
