import { Violation } from './violation.js';

// biome-ignore lint/suspicious/noExplicitAny: wire data
type Wire = any;

/** Roles of the wire (channels §3.1). */
export const OWNER = 100;
export const ADMINISTRATOR = 200;
export const MODERATOR = 300;
export const MEMBER = 400;
export const GUEST = 600;

/** Index of a person in the simulation. */
export type Person = number;
export const OWNER_PERSON: Person = 0;

export interface Channel {
  readonly id: number;
  readonly name: string;
  isPrivate: boolean;
  /** True if later subscribers may read earlier messages. */
  isShared: boolean;
  /** True if only moderators and above may post. */
  isForModerators: boolean;
  readonly subscribers: Set<Person>;
  /** True if `can_subscribe_group` consists of the crew and the moderators and above. */
  grantsGroups: boolean;
  /** People named in `can_subscribe_group`. */
  readonly grantees: Set<Person>;
  /** Administrator of the channel. */
  readonly creator: Person;
}

export type Destination =
  | { readonly channel: Channel; readonly topic: string }
  | { readonly participants: ReadonlySet<Person> };

export interface Message {
  readonly id: number;
  readonly sender: Person;
  /** Time that has elapsed since the start. Jumps of the clock do not change it. */
  readonly sentAtMs: number;
  destination: Destination;
  /** Number of the current text. */
  number: number;
  /** File that the text links to. */
  file: StoredFile | null;
  /** People to whom the message was delivered (messages §4.1). */
  readonly rows: Set<Person>;
  readonly unread: Set<Person>;
  /** People with a reminder that quotes the message. */
  readonly quotedFor: Set<Person>;
  /** Person and emoji: `2 tada`. */
  readonly reactions: Set<string>;
  /** States since the message was sent, oldest first. */
  readonly history: Snapshot[];
  isDeleted: boolean;
  deletedAtMs: number;
}

/** Number of the text, topic, and channel of a message at some time. */
export type Snapshot = readonly [number, string, number | null];

/** Uploaded file. */
export interface StoredFile {
  readonly id: number;
  /** Path of its address. */
  readonly path: string;
  /** Number of its text. */
  readonly number: number;
  readonly owner: Person;
  readonly sentAt: number;
  /** People with a reminder that quotes a link to the file. */
  readonly quotedFor: Set<Person>;
  isDeleted: boolean;
}

/** Text that only its author may read: a draft, the note of a reminder, or a scheduled message. */
export interface PrivateText {
  readonly author: Person;
  readonly scheduled: Scheduled | null;
}

export interface Scheduled {
  readonly id: number;
  readonly number: number;
  readonly author: Person;
  readonly dueAt: number;
  readonly destination: Destination;
  /** True if a fault may have delayed or prevented delivery. */
  isExcused: boolean;
}

export interface Draft {
  readonly number: number;
  readonly author: Person;
  /** Message that the draft quotes. */
  readonly message: Message | null;
}

export interface Reminder {
  readonly message: Message;
  /** Number of the note. */
  readonly number: number;
  readonly author: Person;
  readonly dueAt: number;
  /** Time when it must have been delivered at the latest, apart from the usual delay. */
  checkAfter: number;
}

/** Direct message to the bot, which answers it once. */
export interface Question {
  readonly by: Person;
  askedAtMs: number;
  /** Number of the answer; 0 if the bot has not seen the question. */
  answer: number;
}

/** People with clients that receive an event. */
export interface Audience {
  /** Decided as of the event. */
  readonly always: ReadonlySet<Person>;
  /** Decided at the time of delivery, by roles and received messages. */
  readonly now: ReadonlySet<Person>;
  /** People for whom the contract leaves it open. */
  readonly maybe?: ReadonlySet<Person>;
}

/** Number of messages that are compared and changed. Texts of earlier ones are still recognized. */
const MAX_LATEST = 1000;

const MARK = /z([qc])(\d+)z\1/g;

/** Text with a word that occurs nowhere else, so that it is recognized in any response. */
export const textOf = (number: number): string => `zq${number}zq is what I wanted to say`;

export const linkTo = (file: StoredFile | null): string => (file ? ` [notes](/user_uploads/${file.path})` : '');

export const contentOf = ({ number, file }: Pick<Message, 'number' | 'file'>): string => textOf(number) + linkTo(file);

/** Numbers of the texts; negative for those of a copied company. */
export const numbersIn = (body: string): ReadonlySet<number> =>
  new Set([...body.matchAll(MARK)].map(([, mark, number]) => (mark === 'q' ? 1 : -1) * Number(number)));

/** Makes texts of the company those of a copied company, and back. */
export const exchanged = (body: string): string =>
  body.replace(MARK, (_, mark, number) => (mark === 'q' ? `zc${number}zc` : `zq${number}zq`));

/** Channel of another chat, which imports bring. */
export interface History {
  readonly name: string;
  readonly by: Person;
  readonly numbers: readonly number[];
  readonly at: number;
}

/** Person outside the model who joins, writes to the owner, and is erased. */
export interface Newcomer {
  /** Numbers of the texts in the name and in the message. */
  readonly name: number;
  readonly text: number;
  /** Null until the message is sent. */
  userId: number | null;
  isErased: boolean;
}

/** State of the company, which a restored backup takes back. Objects refer to each other. */
class CompanyState {
  /** Role by person. */
  roles: number[] = [];
  /** True if guests may see only people with whom they share a conversation (users §1.4). */
  limitsGuests = false;
  /** Direct members of a named group. */
  crew = new Set<Person>();
  /** Members of another one, which may be a subgroup of the first. */
  helpers = new Set<Person>();
  areHelpersInCrew = false;
  channels = new Map<number, Channel>();
  messages = new Map<number, Message>();
  drafts = new Map<number, Draft>();
  /** Numbers of drafts that were replaced or deleted. */
  formerDrafts = new Set<number>();
  /** Files by the number of their text. */
  files = new Map<number, StoredFile>();
  scheduled = new Map<number, Scheduled>();
  reminders = new Set<Reminder>();
  /** Questions to the bot by the number of their text. */
  questions = new Map<number, Question>();
  newcomers: Newcomer[] = [];
  /** Newest messages, in the order in which the model learned of them. */
  latest: Message[] = [];
  /** Greatest id of earlier messages. */
  lastEarlierId = 0;
  protected messageOfNumber = new Map<number, Message>();
  /** Channels by the numbers of their descriptions. */
  protected described = new Map<number, Channel>();
  protected privateTexts = new Map<number, PrivateText>();
  /** Objects hidden from a person, with the last event that may still show them. */
  protected lost = new Map<Person, Map<Message | Channel, number>>();
}

/** Has the parts of the state that a backup contains. */
const NEW_COMPANY = new CompanyState();

/**
 * Company's chat as the contract alone describes it. Acknowledged changes are applied; the model never reads
 * the server's data.
 */
export class Model extends CompanyState {
  private saved: object = {};
  /** Channels of the other chat, of which a restored backup takes back nothing. */
  readonly histories: History[] = [];
  /** Messages of copied companies. */
  readonly foreign: { readonly id: number; readonly path: string | null }[] = [];
  private lastNumber = 0;
  /** Ids of all messages of the run, including those that a restored backup has lost. */
  private readonly givenIds = new Set<number>();
  /** Number of changes that may end event queues. */
  accessChanges = 0;
  /** Paths of deleted files, including deletions that a restored backup has undone. */
  readonly removedPaths = new Set<string>();

  /** Returns the question with the present or a former text; undefined if it was answered or deleted. */
  questionOf(number: number): Question | undefined {
    const message = this.messageOfNumber.get(number);
    if (!message) return this.questions.get(number);
    if (message.isDeleted) return undefined;
    return [...this.questions].find(([asked]) => this.messageOfNumber.get(asked) === message)?.[1];
  }

  isQuotedFor(person: Person, number: number): boolean {
    return this.messageOfNumber.get(number)?.quotedFor.has(person) ?? false;
  }

  isDeletedText(number: number): boolean {
    return this.messageOfNumber.get(number)?.isDeleted ?? false;
  }

  backUp(): void {
    this.saved = structuredClone(Object.fromEntries(Object.entries(this).filter(([key]) => key in NEW_COMPANY)));
  }

  /** Model of an organization that is a copy of this one. */
  copy(): Model {
    const copy = new Model();
    const { saved: _, ...all } = this;
    return Object.assign(copy, structuredClone(all));
  }

  /** Everything since the backup is gone. Numbers of texts are not used again. */
  restore(): void {
    Object.assign(this, structuredClone(this.saved));
  }

  newNumber(): number {
    return ++this.lastNumber;
  }

  isGuest(person: Person): boolean {
    return this.roles[person] === GUEST;
  }

  /** Content access (channels §3.7). */
  mayReadChannel(person: Person, channel: Channel): boolean {
    if (channel.subscribers.has(person)) return true;
    return !this.isGuest(person) && (!channel.isPrivate || this.isGranted(person, channel));
  }

  private isGranted(person: Person, { grantees, grantsGroups }: Channel): boolean {
    return grantees.has(person) || (grantsGroups && (this.isInCrew(person) || this.roles[person]! <= MODERATOR));
  }

  private isInCrew(person: Person): boolean {
    return this.crew.has(person) || (this.areHelpersInCrew && this.helpers.has(person));
  }

  /** Metadata access (channels §3.7). */
  mayKnow(person: Person, channel: Channel): boolean {
    if (this.mayReadChannel(person, channel)) return true;
    return !this.isGuest(person) && (this.roles[person]! <= ADMINISTRATOR || channel.creator === person);
  }

  /** Messages §1.4. */
  mayRead(person: Person, message: Message): boolean {
    return !message.isDeleted && this.isInAudience(person, message.destination, message.rows);
  }

  /** Channels §3.9. */
  mayPost(person: Person, channel: Channel): boolean {
    if (channel.isForModerators && this.roles[person]! > MODERATOR) return false;
    if (channel.subscribers.has(person)) return true;
    if (this.isGuest(person)) return false;
    return !channel.isPrivate || (channel.isShared && this.isGranted(person, channel));
  }

  /** True if the person receives all events about the message. */
  isFollowing(person: Person, { destination, rows }: Message): boolean {
    return rows.has(person) && (!('channel' in destination) || destination.channel.subscribers.has(person));
  }

  /** Messages §9.1 rows 14 and 18. */
  mayMoveTo(person: Person, channel: Channel): boolean {
    return this.mayReadChannel(person, channel) && (!channel.isForModerators || this.roles[person]! <= MODERATOR);
  }

  /** True if events of the person that have the text were made before it was hidden. Deletions remove events. */
  mayEventsShow(person: Person, number: number, events: readonly Wire[]): boolean {
    const hidden = this.messageOfNumber.get(number) ?? this.described.get(number);
    if (!hidden) return false;
    const upTo = this.isDeletedText(number) ? -1 : (this.lost.get(person)?.get(hidden) ?? -1);
    const isAuthor = 'sender' in hidden && hidden.sender === person;
    // Authors of scheduled messages keep the events of their list.
    return events.every(
      (event) =>
        event.id <= upTo ||
        (isAuthor && event.type === 'scheduled_messages') ||
        !numbersIn(JSON.stringify(event)).has(number),
    );
  }

  /** All events about the losses so far have been made. */
  endLosses(lastEventId: number): void {
    for (const lost of this.lost.values())
      for (const [hidden, upTo] of lost) if (upTo === Number.POSITIVE_INFINITY) lost.set(hidden, lastEventId);
  }

  /** True if nothing may still contain the text. */
  isGone(number: number): boolean {
    const message = this.messageOfNumber.get(number);
    return message?.isDeleted === true && message.quotedFor.size === 0;
  }

  /** True if a response to the person may contain the text now. */
  mayShow(person: Person, number: number, now: number): boolean {
    const message = this.messageOfNumber.get(number);
    if (message) return this.mayRead(person, message) || message.quotedFor.has(person);
    const newcomer = this.newcomers.find(({ name, text }) => number === name || number === text);
    if (newcomer) return !newcomer.isErased && (number === newcomer.name || person === 0);
    const channel = this.described.get(number);
    if (channel) return this.mayKnow(person, channel);
    const file = this.files.get(number);
    if (file) return this.mayReadFile(person, file) !== false;
    const text = this.privateTexts.get(number);
    if (text === undefined) return false;
    if (text.author === person) return true;
    const { scheduled } = text;
    if (scheduled === null || scheduled.dueAt > now) return false;
    return this.isInAudience(person, scheduled.destination, receiversOf(scheduled.destination));
  }

  /** Message watchers (messages §18). */
  watchers({ destination, rows }: Message): Audience {
    const none: ReadonlySet<Person> = new Set();
    if ('participants' in destination) return { always: new Set(rows), now: none };
    const { subscribers, isPrivate, isShared } = destination.channel;
    if (!isShared) return { always: none, now: new Set([...subscribers].filter((person) => rows.has(person))) };
    const holders = isPrivate ? [] : [...rows].filter((person) => !this.isGuest(person));
    return { always: new Set(subscribers), now: new Set(holders) };
  }

  /** Messages §16.2; null if the contract leaves it open. */
  mayReadFile(person: Person, file: StoredFile): boolean | null {
    if (file.isDeleted) return false;
    if (file.owner === person) return true;
    const linking = this.linking(file);
    if (linking.some((message) => this.mayRead(person, message))) return true;
    const isOpen = linking.some(
      ({ destination }) => 'channel' in destination && this.mayReadChannel(person, destination.channel),
    );
    return isOpen || file.quotedFor.has(person) ? null : false;
  }

  isLinked(file: StoredFile): boolean {
    return this.linking(file).length > 0;
  }

  private linking(file: StoredFile): readonly Message[] {
    return [...this.messages.values()].filter((message) => !message.isDeleted && message.file === file);
  }

  /** Unread messages that register reports (events §4.4). */
  unreadOf(person: Person): readonly number[] {
    return [...this.latest]
      .filter(({ id, isDeleted, unread, destination }) => {
        if (isDeleted || id <= this.lastEarlierId || !unread.has(person)) return false;
        return !('channel' in destination) || destination.channel.subscribers.has(person);
      })
      .map(({ id }) => id)
      .sort((a, b) => a - b);
  }

  /** True if the message is the oldest one in its channel. */
  isFirst({ id, destination }: Message): boolean {
    if (!('channel' in destination)) return false;
    const { channel } = destination;
    const isIn = (each: Message) => 'channel' in each.destination && each.destination.channel === channel;
    return this.latest.find((each) => !each.isDeleted && isIn(each))?.id === id;
  }

  readersOf(message: Message): readonly Person[] {
    return [...this.roles.keys()].filter((person) => this.mayRead(person, message));
  }

  /** Latest messages that the person may read. */
  readable(person: Person): readonly Message[] {
    return [...this.latest].filter((message) => this.mayRead(person, message));
  }

  /** Records a delivered message. */
  send(
    id: number,
    sender: Person,
    destination: Destination,
    number: number,
    sentAtMs: number,
    file: StoredFile | null = null,
  ): Message {
    if (this.givenIds.has(id)) throw new Violation('a message id is given once', `message ${id}`);
    this.givenIds.add(id);
    const rows = receiversOf(destination);
    const unread = new Set(rows);
    unread.delete(sender);
    const message: Message = {
      ...{ id, sender, sentAtMs, destination, number, file, rows, unread, isDeleted: false, deletedAtMs: 0 },
      quotedFor: new Set<Person>(),
      reactions: new Set<string>(),
      history: [],
    };
    noteState(message);
    this.messages.set(id, message);
    if (this.latest.push(message) > MAX_LATEST)
      this.lastEarlierId = Math.max(this.lastEarlierId, this.latest.shift()!.id);
    this.messageOfNumber.set(number, message);
    this.privateTexts.delete(number);
    return message;
  }

  /** Announces a text that may reach the server from now on. */
  announce(number: number, author: Person, scheduled: Scheduled | null = null): void {
    this.privateTexts.set(number, { author, scheduled });
  }

  edit(message: Message, number: number): void {
    message.number = number;
    message.file = null;
    this.alsoMeans(message, number);
    noteState(message);
  }

  /** Announces another text of a message. */
  alsoMeans(message: Message, number: number): void {
    this.privateTexts.delete(number);
    this.messageOfNumber.set(number, message);
  }

  /** The text is or was the description of the channel. */
  describe(channel: Channel, number: number): void {
    this.described.set(number, channel);
  }

  schedule(scheduled: Scheduled): void {
    this.scheduled.set(scheduled.id, scheduled);
    this.announce(scheduled.number, scheduled.author, scheduled);
  }

  delete(messages: readonly Message[], elapsedMs: number): void {
    this.changeAccess(() => {
      for (const message of messages) Object.assign(message, { isDeleted: true, deletedAtMs: elapsedMs });
    });
  }

  subscribe(person: Person, channel: Channel): void {
    this.changeAccess(() => channel.subscribers.add(person));
  }

  unsubscribe(person: Person, channel: Channel): void {
    this.changeAccess(() => channel.subscribers.delete(person));
    for (const message of this.messages.values()) {
      const { destination } = message;
      if ('channel' in destination && destination.channel === channel) message.unread.delete(person);
    }
  }

  /** Changes roles and channels; remembers who loses sight of what. */
  changeAccess(change: () => void): void {
    this.accessChanges++;
    const before = this.roles.map((_, person) => this.visible(person));
    change();
    for (const [person, seen] of before.entries()) {
      const visible = new Set(this.visible(person));
      const lost = this.lost.get(person) ?? new Map();
      this.lost.set(person, lost);
      for (const each of seen) if (!visible.has(each)) lost.set(each, Number.POSITIVE_INFINITY);
    }
  }

  private visible(person: Person): readonly (Message | Channel)[] {
    const channels = [...this.channels.values()].filter((channel) => this.mayKnow(person, channel));
    return [...this.readable(person), ...channels];
  }

  /** Messages §9.3. `topic`: null if each message keeps its spelling. */
  move(messages: readonly Message[], to: Channel, topic: string | null): void {
    this.changeAccess(() => {
      for (const message of messages) {
        const { destination, rows, unread } = message;
        const isElsewhere = 'channel' in destination && destination.channel !== to;
        message.destination = { channel: to, topic: topic ?? ('channel' in destination ? destination.topic : '') };
        noteState(message);
        if (!isElsewhere) continue;
        for (const person of [...rows]) {
          if (to.subscribers.has(person)) continue;
          rows.delete(person);
          unread.delete(person);
        }
        if (to.isPrivate && !to.isShared) for (const person of to.subscribers) rows.add(person);
      }
    });
  }

  /** Topic identity ignores case (messages §1.5). */
  inTopic(channel: Channel, topic: string): readonly Message[] {
    const key = topic.toLowerCase();
    return [...this.messages.values()].filter(
      ({ isDeleted, destination }) =>
        !isDeleted &&
        'channel' in destination &&
        destination.channel === channel &&
        destination.topic.toLowerCase() === key,
    );
  }

  private isInAudience(person: Person, destination: Destination, rows: ReadonlySet<Person>): boolean {
    if ('participants' in destination) return destination.participants.has(person);
    const { channel } = destination;
    if (!this.mayReadChannel(person, channel)) return false;
    return !channel.isPrivate || channel.isShared || rows.has(person);
  }
}

function noteState({ history, number, destination }: Message): void {
  history.push('channel' in destination ? [number, destination.topic, destination.channel.id] : [number, '', null]);
}

const receiversOf = (destination: Destination): Set<Person> =>
  new Set('channel' in destination ? destination.channel.subscribers : destination.participants);
