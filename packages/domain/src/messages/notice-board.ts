import type { Channel } from '../channels/channel.js';
import type { Realm } from '../realms/realm.js';
import type { Clock } from '../shared/clock.js';
import type { ChannelId, UserId } from '../shared/ids.js';
import type { RealmAddresses } from '../shared/realm-address.js';
import type { Transaction } from '../shared/unit-of-work.js';
import type { SystemBotKind, User } from '../users/user.js';
import type { MarkdownRenderer } from './markdown.js';
import { type Message, parseContent } from './message.js';
import { type Destination, postMessage } from './post-message.js';
import { type Author, markdownOptions, renderText } from './render-message.js';

/** A mention that notifies nobody. */
export const silentMention = (user: Pick<User, 'id' | 'fullName'>): string => `@_**${user.fullName}|${user.id}**`;
export const channelLink = (channel: Pick<Channel, 'name'>): string => `#**${channel.name}**`;

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

/** What the realm's own bots say when something happens. Runs inside the unit of what happened. */
export class NoticeBoard {
  constructor(
    private readonly renderer: MarkdownRenderer,
    private readonly addresses: RealmAddresses,
    private readonly clock: Clock,
  ) {}

  /** Into a topic of a channel; read already for those in `readFor`. The channel may be archived. */
  async post(
    tx: Transaction,
    realm: Realm,
    notice: { channel: Channel; topic: string; content: string; author: Author; readFor?: readonly UserId[] },
  ): Promise<void> {
    // Only where the channel has no other topic does the notice go without one (channels §5.2).
    const topic = notice.channel.topicsPolicy === 'empty_topic_only' ? '' : notice.topic;
    const destination: Destination = { kind: 'channel', channel: notice.channel, topic, topicLinks: [] };
    const bot = await tx.users.findSystemBot(realm.id, 'notification');
    await this.say(tx, realm, bot, destination, notice.content, notice.author, notice.readFor);
  }

  async tell(tx: Transaction, realm: Realm, person: User, content: string, author: Author): Promise<void> {
    await this.tellAs('notification', tx, realm, person, content, author);
  }

  /** What a newcomer finds, starred, in their first conversation (organization §10.4). */
  async welcome(tx: Transaction, realm: Realm, newcomer: User): Promise<void> {
    const { welcomeMessageCustomText: own } = realm.settings;
    // An administrator wrote it, perhaps long ago; nothing in it may show the newcomer more than they can find.
    const actor = await tx.actors.get({ realmId: realm.id, userId: newcomer.id });
    for (const text of [introduction(realm, newcomer), ...(own === '' ? [] : [own])]) {
      const { id } = await this.tellAs('welcome', tx, realm, newcomer, text, { actor });
      await tx.personal.setFlag({ realmId: realm.id, userId: newcomer.id }, [id], 'starred', true);
    }
  }

  private async tellAs(
    kind: SystemBotKind,
    tx: Transaction,
    realm: Realm,
    person: User,
    content: string,
    author: Author,
  ): Promise<Message> {
    const bot = await tx.users.findSystemBot(realm.id, kind);
    const people = [bot, person].sort((a, b) => a.id - b.id);
    const recipientId = await tx.recipients.openDirect(
      realm.id,
      people.map((one) => one.id),
    );
    return this.say(tx, realm, bot, { kind: 'direct', recipientId, people }, content, author);
  }

  /** Where the organization wants newcomers announced (users §3.1). */
  async announceSignup(tx: Transaction, realm: Realm, newcomer: User): Promise<void> {
    const channel = await this.configuredChannel(tx, realm, realm.settings.signupAnnouncementsChannelId);
    if (!channel) return;
    await this.post(tx, realm, {
      channel,
      topic: SIGNUP_TOPIC,
      content: `${silentMention(newcomer)} joined this organization.`,
      // Names hold nothing that could name anything else.
      author: { actor: null },
    });
  }

  /** A channel that the organization's settings name; null when unset or archived. */
  async configuredChannel(tx: Transaction, realm: Realm, id: number | null): Promise<Channel | null> {
    const channel = id === null ? null : await tx.channels.find(realm.id, id as ChannelId);
    return channel && !channel.isArchived ? channel : null;
  }

  private async say(
    tx: Transaction,
    realm: Realm,
    sender: User,
    destination: Destination,
    text: string,
    author: Author,
    readFor: readonly UserId[] = [],
  ): Promise<Message> {
    const content = parseContent(text);
    const parsed = this.renderer.parse(content, markdownOptions(realm, this.addresses.urlOf(realm)));
    const rendered = await renderText(tx, this.renderer, parsed, realm, author);
    return postMessage(tx, {
      sender,
      destination,
      content,
      rendered,
      clientName: CLIENT_NAME,
      sentAt: this.clock.now(),
      isReadBySender: false,
      readFor,
    });
  }
}
