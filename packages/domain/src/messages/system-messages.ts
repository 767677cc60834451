import { type ChannelNotice, configuredChannel, type NotificationBot } from '../channels/notification-bot.js';
import type { Clock } from '../kernel/clock.js';
import { DomainError, orThrow } from '../kernel/errors.js';
import type { RealmUrls } from '../kernel/realm-urls.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import type { MarkdownOptions, MarkdownRenderer, ParsedMarkdown } from '../markdown/markdown.js';
import { silentMention } from '../markdown/syntax.js';
import type { Author, ParsedAhead } from '../markdown/text-renderer.js';
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
