import { isDeepStrictEqual } from 'node:util';
import { ALL_CAPABILITIES } from '@parley/testkit/synced-state';
import { CompanyClients, type Device, JOB_PATIENCE_SECONDS } from './company-clients.js';
import { externalIdOf } from './engine.js';
import {
  type Channel,
  contentOf,
  type Message,
  type Newcomer,
  numbersIn,
  type Person,
  type Scheduled,
  type Snapshot,
  type StoredFile,
  textOf,
} from './model.js';
import { Violation } from './violation.js';
import type { Answer } from './wire.js';

// biome-ignore lint/suspicious/noExplicitAny: wire data
type Wire = any;

/** Messages per page of a conversation that is checked. */
const SHORT_PAGE = 100;
/** Maximum time until a new message is found by search. */
const INDEX_PATIENCE_MS = 15 * 60_000;
/** Maximum time until a bot has answered, even after a crash or a failing disk. */
const BOT_PATIENCE_MS = 30 * 60_000;
/** Minimum time for which files are kept without a link. */
const KEPT_UNUSED_SECONDS = 7 * 86_400;
/** Fields of register that differ between queues, and with each start of the server. */
const OPEN_FIELDS: readonly string[] = ['idle_queue_timeout_secs', 'server_generation'];
/** Time after which the queue of a response that nobody polls ends. */
const UNUSED_SECONDS = 1;
/** Narrow to a channel, or to direct conversations. */
export const narrowTo = (channel: Channel | null) =>
  channel ? [{ operator: 'channel', operand: channel.id }] : [{ operator: 'is', operand: 'dm' }];

/** Simulated company with checks of what its people see against the model. */
export class Company extends CompanyClients {
  /** Id of a scheduled message. Repeated requests schedule it twice; the person deletes the copy. */
  async keepOneScheduled(person: Person, number: number): Promise<number> {
    const { json } = await this.insist(person, 'GET', '/scheduled_messages', {});
    const [first, ...copies] = json.scheduled_messages.filter(({ content }: Wire) => numbersIn(content).has(number));
    if (copies.length > 0 && !this.mayHaveRepeated)
      throw new Violation('exactly once', `${number} was scheduled twice`);
    for (const { scheduled_message_id } of copies) {
      await this.insist(person, 'DELETE', `/scheduled_messages/${scheduled_message_id}`, {});
    }
    return first.scheduled_message_id;
  }

  /** Subscribes people to a channel, if the inviting person may do that. */
  async invite(by: Person, channel: Channel, people: readonly Person[]): Promise<void> {
    const { status } = await this.attempt(!this.model.isGuest(by), by, 'POST', '/users/me/subscriptions', {
      subscriptions: [{ name: channel.name }],
      principals: people.map((person) => this.people[person]!.id),
      send_new_subscription_messages: false,
    });
    if (status === 200) for (const person of people) this.model.subscribe(person, channel);
  }

  /** Checks everything that one person sees. */
  async checkPerson(person: Person): Promise<void> {
    await this.checkState(person);
    await this.checkPhone(person);
    for (const channel of this.model.channels.values()) await this.checkPlace(person, channel);
    await this.checkPlace(person, null);
  }

  /** The client's state equals that of a new client. */
  async checkState(person: Person): Promise<void> {
    await this.checkEvents(person);
    const { json } = await this.register(person, ALL_CAPABILITIES, UNUSED_SECONDS);
    this.checkUnread(person, json.unread_msgs);
    this.checkDeletions(json);
    const areDraftsWaiting = this.checkDrafts(person, json.drafts);
    const device = this.devices.get(person);
    if (device && this.isOnline(person)) this.compareStates(person, device, json, areDraftsWaiting);
  }

  /** The state of a client that has not polled for long equals that of a new client. */
  private async checkPhone(person: Person): Promise<void> {
    const { devices } = this.phones;
    if (!this.isOnline(person)) return;
    if (!devices.has(person)) return this.connect(person, this.phones);
    await this.catchUp(person, this.phones);
    const device = devices.get(person)!;
    const { json } = await this.register(person, device.capabilities, UNUSED_SECONDS);
    this.compareStates(person, device, json, this.checkDrafts(person, json.drafts));
  }

  private compareStates(person: Person, device: Device, json: Wire, areDraftsWaiting: boolean): void {
    const [state, fresh] = [device.synced.state, device.synced.comparableOf(json)];
    const differs = (key: string) => !isDeepStrictEqual(state[key], fresh[key]);
    // Events with a deleted text are gone before the job that changes the reminder.
    const isWaiting = this.quotesDeleted(json.reminders);
    const isOpen = (key: string) =>
      OPEN_FIELDS.includes(key) || (key === 'reminders' && isWaiting) || (key === 'drafts' && areDraftsWaiting);
    const wrong = Object.keys(fresh).filter((key) => !isOpen(key) && differs(key));
    if (wrong.length > 0) {
      const details = wrong.map((key) => `${key}: has ${show(state[key])}, server has ${show(fresh[key])}`);
      throw new Violation('sync law', `p${person} ${details.join('; ')}`);
    }
    for (const shown of device.synced.messages) {
      const message = this.model.messages.get(shown.id);
      if (message && !message.isDeleted && this.model.isFollowing(person, message))
        this.checkContent(person, message, shown);
    }
  }

  /** The person sees the message, or nothing of it. */
  async checkMessage(person: Person, message: Message): Promise<void> {
    const { json } = await this.insist(person, 'GET', `/messages/${message.id}`, { apply_markdown: false });
    await this.checkShown(person, message, json.message);
  }

  /** The person sees of the messages, and of the newest hidden one, what the person may read. */
  async checkAccess(person: Person, messages: readonly Message[]): Promise<void> {
    const hidden = this.model.latest.findLast((message) => !this.model.mayRead(person, message));
    const asked = [...new Set(hidden ? [...messages, hidden] : messages)];
    if (asked.length === 0) return;
    const params = { message_ids: asked.map(({ id }) => id), apply_markdown: false };
    const { json } = await this.insist(person, 'GET', '/messages', params);
    for (const message of asked)
      await this.checkShown(
        person,
        message,
        json.messages.find(({ id }: Wire) => id === message.id),
      );
  }

  private async checkShown(person: Person, message: Message, shown: Wire | undefined): Promise<void> {
    if ((shown !== undefined) !== this.model.mayRead(person, message))
      throw new Violation('who may read, reads', `p${person} reads of message ${message.id} ${show(shown)}`);
    if (shown) this.checkContent(person, message, shown);
    if (message.history.length > 1) await this.checkHistory(person, message);
  }

  /** Readers of the message read its former texts, topics and channels in order. */
  private async checkHistory(person: Person, message: Message): Promise<void> {
    const { status, json } = await this.insist(person, 'GET', `/messages/${message.id}/history`, {});
    const [first] = message.history;
    let channel = first![2];
    const snapshots = (json.message_history ?? []).map(({ content, topic, stream }: Wire): Snapshot => {
      channel = stream ?? channel;
      return [[...numbersIn(content)][0] ?? 0, topic, channel];
    });
    const expected = this.model.mayRead(person, message) ? withoutRepeats(message.history) : [];
    if (status !== (expected.length > 0 ? 200 : 400) || String(withoutRepeats(snapshots)) !== String(expected))
      throw new Violation(
        'edit history',
        `p${person} reads ${show(json)} of message ${message.id}, expected ${show(expected)}`,
      );
  }

  /** Reads a file, or is refused. */
  async checkFile(person: Person, file: StoredFile): Promise<void> {
    const { status, body } = await this.insist(person, 'GET', `/user_uploads/${file.path}`, {}, { isPage: true });
    // The store of a lost machine has already removed files that its backup still names.
    if (this.model.removedPaths.has(file.path) && !file.isDeleted) return;
    const isShown = this.model.mayReadFile(person, file);
    const isUnused =
      !this.model.isLinked(file) && file.sentAt + KEPT_UNUSED_SECONDS < Math.max(this.latestTime, this.time.now());
    if (status === 404 && (file.isDeleted || isUnused)) return;
    const isRight = isShown === null ? status === 200 || status === 403 : status === (isShown ? 200 : 403);
    if (file.isDeleted || !isRight || (status === 200 && body !== textOf(file.number))) {
      throw new Violation('who may read, reads', `p${person} GET ${file.path} of p${file.owner} → ${status} ${body}`);
    }
  }

  /** Finds an older message by its text. */
  async checkSearch(person: Person, message: Message): Promise<void> {
    const word = textOf(message.number).split(' ')[0];
    const { json } = await this.page(person, [{ operator: 'search', operand: word }]);
    const isFound = json.messages?.some(({ id }: Wire) => id === message.id) ?? false;
    const isOld = message.sentAtMs + INDEX_PATIENCE_MS < this.time.elapsedMs();
    // A failing disk cannot store the terms of new messages.
    if (json.search_incomplete === true && this.engine.isDiskFailing) return;
    if (isOld && !isFound && message.rows.has(person) && this.model.mayRead(person, message)) {
      throw new Violation('search finds', `p${person} does not find message ${message.id} by ${word}`);
    }
  }

  /** Time of the next due job, if it is due before `end`. */
  nextJob(end: number): number | null {
    const { scheduled, reminders } = this.model;
    const now = this.time.now();
    const due = [...scheduled.values(), ...reminders].map(({ dueAt }) => dueAt).filter((at) => at > now && at < end);
    return due.length === 0 ? null : Math.min(...due);
  }

  /** Somebody joins, writes to the owner, and is erased with everything written. */
  async eraseNewcomer(): Promise<void> {
    if (this.engine.isDiskFailing) return;
    const { model, people } = this;
    const newcomer: Newcomer = { name: model.newNumber(), text: model.newNumber(), userId: null, isErased: false };
    model.newcomers.push(newcomer);
    const name = textOf(newcomer.name);
    const userId = await this.engine.administer(async ({ users, as }, realm) => {
      const session = { realm, externalId: `newcomer ${newcomer.name}` };
      const { id } = await users.upsert({ ...session, name, email: `${name.split(' ')[0]}@example.com` });
      await as(session).messages.send({ to: people[0]!.id, content: textOf(newcomer.text) });
      return id;
    });
    this.trace(`user ${userId} joins`);
    newcomer.userId = userId ?? null;
    const [channel] = model.channels.keys();
    const setting = { can_remove_subscribers_group: { new: { direct_members: [userId], direct_subgroups: [] } } };
    if (userId !== undefined) await this.insist(0, 'PATCH', `/streams/${channel}`, setting);
    await this.checkState(0);
    await this.checkErasures(false);
  }

  /** Erasures end some time. */
  async checkErasures(isOver: boolean): Promise<void> {
    for (const newcomer of this.model.newcomers) {
      const { userId } = newcomer;
      if (newcomer.isErased || userId === null || this.engine.isDead) continue;
      const erasure = await this.engine.administer(({ users }, realm) =>
        users.erase({ realm, userId }, { everythingWritten: true }),
      );
      newcomer.isErased = (erasure?.endedAt ?? null) !== null;
      if (newcomer.isErased) this.trace(`user ${userId} is erased`);
      else if (isOver) throw new Violation('erasures end', `user ${userId} is not erased`);
    }
  }

  /** Adopts delivered messages, and checks that due jobs have run once. */
  async checkJobs(): Promise<void> {
    const due = [...this.model.scheduled.values()].filter(({ dueAt }) => dueAt <= this.time.now());
    for (const scheduled of due) await this.checkScheduled(scheduled);
    // The model knows all messages now that one poll may return.
    for (const { author } of due) await this.checkState(author);
    for (const reminder of [...this.model.reminders]) {
      const { dueAt, checkAfter, author, number, message } = reminder;
      if (message.isDeleted) this.checkReminders((await this.insist(author, 'GET', '/reminders', {})).json.reminders);
      const isOnTime = checkAfter === dueAt;
      if (checkAfter + (isOnTime ? 0 : JOB_PATIENCE_SECONDS) > this.time.now()) continue;
      const copies = await this.copiesIn(author, null, number);
      if (isOnTime) this.checkTime(`reminder ${number}`, dueAt, copies);
      if (copies.length !== 1)
        throw new Violation('jobs due are done once', `p${author} got reminder ${number} ${copies.length} times`);
      if (numbersIn((await this.insist(author, 'GET', '/reminders', {})).body).has(number))
        throw new Violation('jobs due are done once', `reminder ${number} was sent and is still listed`);
      this.model.reminders.delete(reminder);
      await this.checkState(author);
    }
  }

  /** The bot has answered each question once. */
  async checkAnswers(): Promise<void> {
    for (const [number, { by, askedAtMs, answer }] of [...this.model.questions]) {
      if (askedAtMs + BOT_PATIENCE_MS > this.time.elapsedMs()) continue;
      this.model.questions.delete(number);
      if (answer === 0 && this.model.isDeletedText(number)) continue;
      const count = (await this.copiesIn(by, null, answer)).length;
      if (count !== 1) throw new Violation('bots answer once', `p${by} got ${count} answers to ${number}`);
    }
  }

  /** Messages with the text in a channel, or in direct conversations. */
  private async copiesIn(person: Person, channel: Channel | null, number: number): Promise<readonly Wire[]> {
    const { json } = await this.page(person, narrowTo(channel));
    return json.messages?.filter(({ content }: Wire) => numbersIn(content).has(number)) ?? [];
  }

  private async checkScheduled(scheduled: Scheduled): Promise<void> {
    const { author, destination, id, number } = scheduled;
    const { json } = await this.insist(author, 'GET', '/scheduled_messages', {});
    const entry = json.scheduled_messages.find((each: Wire) => each.scheduled_message_id === id);
    const copies = await this.copiesIn(author, 'channel' in destination ? destination.channel : null, number);
    if (copies.length > 1) {
      throw new Violation('jobs due are done once', `scheduled message ${id} was sent ${copies.length} times`);
    }
    if (copies.length === 1) {
      if (!scheduled.isExcused) this.checkTime(`scheduled message ${id}`, scheduled.dueAt, copies);
      if (entry && !scheduled.isExcused)
        throw new Violation('jobs due are done once', `scheduled message ${id} was sent and is still listed`);
      this.model.scheduled.delete(id);
      const message = this.model.send(copies[0].id, author, destination, number, this.time.elapsedMs());
      this.adopt(message, !scheduled.isExcused);
      return;
    }
    if (entry?.failed) {
      const mayPost = !('channel' in destination) || this.model.mayPost(author, destination.channel);
      // A hook may have refused it.
      if (mayPost && !scheduled.isExcused && !this.engine.app)
        throw new Violation('jobs due are done once', `${id} has failed`);
      this.model.scheduled.delete(id);
      return;
    }
    if (!scheduled.isExcused) throw new Violation('jobs due are done once', `${id} was not sent`);
  }

  private checkTime(job: string, dueAt: number, messages: readonly Wire[]): void {
    for (const { timestamp } of messages) {
      if (timestamp === dueAt) continue;
      throw new Violation('jobs due are done on time', `${job} was due at ${dueAt} and sent at ${timestamp}`);
    }
  }

  /** Checks everything that the person sees in a channel, or everything that the person has (messages §5.4). */
  private async checkPlace(person: Person, channel: Channel | null): Promise<void> {
    const isThere = ({ destination, rows }: Message) =>
      channel ? 'channel' in destination && destination.channel === channel : rows.has(person);
    const readable = this.model.readable(person).filter(isThere);
    // Some pages begin in the middle of the conversation.
    const middle = readable.length % 2 === 0 ? readable[readable.length / 2]?.id : undefined;
    const { json } = await this.page(person, channel ? narrowTo(channel) : [], SHORT_PAGE, middle);
    const shown: readonly Wire[] = json.messages ?? [];
    const older = shown.filter(({ id }) => middle === undefined || id < middle).length;
    const after = Math.max(this.model.lastEarlierId, older < SHORT_PAGE ? 0 : shown[0].id - 1);
    const upTo = shown.length - older > SHORT_PAGE ? shown.at(-1).id : Number.POSITIVE_INFINITY;
    const expected = readable.filter(({ id }) => id > after && id <= upTo);
    // Notices of bots are not modelled.
    const ids = new Set(this.people.map(({ id }) => id));
    const found = shown.filter((each) => each.id > after && ids.has(each.sender_id));
    const [want, have] = [expected.map(({ id }) => id).sort(ascending), found.map(({ id }) => id)];
    if (!isDeepStrictEqual(want, have)) {
      const missing = want.filter((id) => !have.includes(id));
      const extra = have.filter((id) => !want.includes(id));
      throw new Violation(
        'what was acknowledged exists exactly once',
        `p${person} in ${channel?.name ?? 'the personal history'}: missing ${missing}, unexpected ${extra}`,
      );
    }
    const shownById = new Map(found.map((each) => [each.id, each]));
    for (const message of expected) this.checkContent(person, message, shownById.get(message.id));
  }

  private checkContent(person: Person, message: Message, shown: Wire): void {
    const topic = 'channel' in message.destination ? message.destination.topic : '';
    const idOf = (reaction: string) => reaction.replace(/^\d+/, (person) => `${this.people[Number(person)]!.id}`);
    const reactions = shown.reactions.map(({ user_id, emoji_name }: Wire) => `${user_id} ${emoji_name}`).sort();
    const expected = [...message.reactions].map(idOf).sort();
    const isWithHooks = this.engine.app !== null;
    const content = contentOf(message);
    // Events of edits have HTML.
    const isExact = shown.content === content || shown.content === `<p>${content}</p>`;
    const isContent = isWithHooks ? numbersIn(shown.content).has(message.number) : isExact;
    const isRight =
      isContent &&
      shown.flags.includes('read') !== message.unread.has(person) &&
      shown.subject === topic &&
      shown.sender_id === this.people[message.sender]!.id &&
      isDeepStrictEqual(reactions, expected);
    if (!isRight) {
      throw new Violation('what was acknowledged exists', `p${person} sees message ${message.id} as ${show(shown)}`);
    }
  }

  /** The application's state is right by its own check. */
  async checkApp(isOver: boolean): Promise<void> {
    const { app } = this.engine;
    if (!app?.check) return;
    const messages = [...this.model.messages.values()].map(({ id, sender, destination, isDeleted }) => ({
      id,
      sender: externalIdOf(sender),
      channel: 'channel' in destination ? { id: destination.channel.id, name: destination.channel.name } : null,
      isDeleted,
    }));
    try {
      await app.check({ messages, isOver });
    } catch (error) {
      throw new Violation('the application is right', error instanceof Error ? error.message : `${error}`);
    }
  }

  /** No channel begins with a deleted message (messages §11), and soon no reminder quotes one (users §21). */
  private checkDeletions({ subscriptions, reminders }: Wire): void {
    for (const { stream_id, first_message_id } of subscriptions) {
      const first = this.model.messages.get(first_message_id);
      if (first?.isDeleted && 'channel' in first.destination && first.destination.channel.id === stream_id)
        throw new Violation('a deleted message is gone', `channel ${stream_id} begins with message ${first.id}`);
    }
    this.checkReminders(reminders);
  }

  /** The person has the acknowledged drafts. Returns true if one of them still quotes a deleted message. */
  private checkDrafts(person: Person, drafts: readonly Wire[]): boolean {
    const shown = new Set(drafts.flatMap(({ content }) => [...numbersIn(content)]));
    const own = [...this.model.drafts.values()].filter(({ author }) => author === person);
    const isWrong =
      own.some(({ number }) => !shown.has(number)) || [...shown].some((each) => this.model.formerDrafts.has(each));
    if (isWrong) throw new Violation('what was acknowledged exists', `p${person} has drafts ${show(drafts)}`);
    const quoting = own.filter(({ message }) => message?.isDeleted && shown.has(message.number));
    const untilMs = this.time.elapsedMs() - JOB_PATIENCE_SECONDS * 1000;
    if (quoting.some(({ message }) => message!.deletedAtMs <= untilMs))
      throw new Violation('a deleted message is gone', `a draft of p${person} quotes it: ${show(drafts)}`);
    return quoting.length > 0;
  }

  /** Chosen policies of topics, like `LUNCH 2`; a failing disk does not register a client. */
  async policiesOf(person: Person): Promise<readonly string[]> {
    const { json } = await this.register(person, ALL_CAPABILITIES, UNUSED_SECONDS, ['user_topic']);
    await this.insist(person, 'DELETE', '/events', { queue_id: json.queue_id });
    const lineOf = (each: Wire) => `${each.topic_name.toUpperCase()} ${each.visibility_policy}`;
    return (json.user_topics ?? []).map(lineOf).sort();
  }

  private checkReminders(reminders: readonly Wire[]): void {
    if (this.quotesDeleted(reminders, this.time.elapsedMs() - JOB_PATIENCE_SECONDS * 1000))
      throw new Violation('a deleted message is gone', `a reminder quotes it: ${show(reminders)}`);
  }

  private quotesDeleted(reminders: readonly Wire[], untilMs = Infinity): boolean {
    return reminders.some(({ reminder_target_message_id, content }) => {
      const message = this.model.messages.get(reminder_target_message_id);
      return message?.isDeleted && message.deletedAtMs <= untilMs && numbersIn(content).has(message.number);
    });
  }

  private checkUnread(person: Person, { pms, streams, huddles }: Wire): void {
    const shown = [...pms, ...streams, ...huddles]
      .flatMap(({ unread_message_ids }: Wire) => unread_message_ids as number[])
      .filter((id) => id > this.model.lastEarlierId && this.model.messages.has(id))
      .sort(ascending);
    const expected = this.model.unreadOf(person);
    if (!isDeepStrictEqual(shown, expected)) {
      throw new Violation('unread messages', `p${person} has ${show(shown)}, expected ${show(expected)}`);
    }
  }

  page(person: Person, narrow: readonly object[], size = SHORT_PAGE, around?: number): Promise<Answer> {
    const range = { anchor: around ?? 'newest', num_before: size, num_after: around === undefined ? 0 : size };
    const params = { ...range, narrow, apply_markdown: false };
    return this.insist(person, 'GET', '/messages', params);
  }
}

const ascending = (a: number, b: number): number => a - b;

/** A repeated edit may be in the history twice. */
const withoutRepeats = (history: readonly Snapshot[]): readonly Snapshot[] =>
  history.filter((each, index) => String(each) !== String(history[index - 1]));

const MAX_SHOWN = 1500;
const show = (value: unknown): string => (JSON.stringify(value) ?? 'nothing').slice(0, MAX_SHOWN);
