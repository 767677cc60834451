import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { type Change, Deliveries } from './deliveries.js';
import type { DiskFailure } from './disk.js';
import type { Account, Engine } from './engine.js';
import {
  type Audience,
  type Channel,
  contentOf,
  type Destination,
  type Message,
  type Model,
  numbersIn,
  type Person,
  type Scheduled,
  type StoredFile,
  textOf,
} from './model.js';
import type { SimulatedTime } from './simulated-time.js';
import { ALL_CAPABILITIES, SyncedState } from './synced-state.js';
import { Violation } from './violation.js';
import { type Answer, type Call, ConnectionLost } from './wire.js';

type Params = Readonly<Record<string, unknown>>;
type CallOptions = Pick<Call, 'losesAnswer' | 'file' | 'isPage'>;
// biome-ignore lint/suspicious/noExplicitAny: wire data
type Wire = any;

/** Client of a person: its queue and what it shows. */
interface Device {
  readonly queueId: string;
  lastEventId: number;
  readonly synced: SyncedState;
  readonly deliveries: Deliveries;
  /** True if a restored backup may have lost events that the client knows. */
  mayKnowLost: boolean;
}

/** Maximum delay of a due job after a fault. */
const JOB_PATIENCE_SECONDS = 5 * 60;
/** Time after which the server must have noticed a change of its clock. */
const CLOCK_PATIENCE_SECONDS = 60;
/** Maximum time until a new message is found by search. */
const INDEX_PATIENCE_SECONDS = 15 * 60;
/** Minimum time for which files are kept without a link. */
const KEPT_UNUSED_SECONDS = 7 * 86_400;
const PAGE = 1000;
const NOBODY: ReadonlySet<Person> = new Set();
const NOBODY_SURELY = { always: NOBODY, now: NOBODY };
/** Field of register that changes with each start of the server, without an event. */
const START_OF_SERVER = 'server_generation';

/** People of a simulated company with their clients, and the checks of what they see. */
export class Company {
  readonly devices = new Map<Person, Device>();
  /** System groups that settings name. */
  readonly groups = { everyone: 0, moderators: 0 };
  /** True if a request of this step was sent again, because its answer was lost. */
  mayHaveRepeated = false;
  private readonly offline = new Set<Person>();
  private recovering: Promise<void> | null = null;
  /** Number of steps until the disk works again. */
  private failingSteps = 0;
  private readonly slowReaders: { read: () => void; readonly done: Promise<void> }[] = [];
  /** Number of published changes, and that number at the time of the backup. */
  private changes = 0;
  private savedChanges = 0;
  /** Number of calls. */
  calls = 0;
  private readonly hash = createHash('sha256');
  private readonly localIds = new Map<Person, number>();

  constructor(
    readonly engine: Engine,
    readonly time: SimulatedTime,
    readonly model: Model,
    readonly people: readonly Account[],
    private readonly onTrace: (line: string) => void,
  ) {}

  /** SHA-256 of everything that happened. */
  digest(): string {
    return this.hash.copy().digest('hex');
  }

  trace(line: string): void {
    this.hash.update(`${line}\n`);
    this.onTrace(line);
  }

  /** Sends a request of a person and checks that the response shows nothing to the wrong person. @throws ConnectionLost */
  async call(person: Person, method: Call['method'], path: string, params: Params = {}, options: CallOptions = {}) {
    const { authorization } = this.people[person]!;
    this.calls++;
    const label = `p${person} ${method} ${path} ${JSON.stringify(params)}${options.file ?? ''}`;
    let answer: Answer;
    try {
      answer = await this.engine.call({ method, path, params, authorization, ...options });
    } catch (error) {
      if (error instanceof ConnectionLost) this.trace(`${label} → no answer`);
      throw error;
    }
    const { status, body, json } = answer;
    const sum = createHash('sha256').update(body).digest('hex').slice(0, 12);
    this.trace(`${label} → ${status} ${json?.code ?? json?.id ?? ''} ${sum}`);
    if (status >= 500 && !this.engine.isDiskFailing) throw new Violation('no internal errors', `${label} → ${body}`);
    const shown = numbersIn(body);
    const sent = numbersIn(JSON.stringify(params));
    for (const number of shown) {
      const isEvent = path === '/events';
      if (sent.has(number) || this.model.mayShow(person, number, this.time.now(), isEvent)) continue;
      throw new Violation(
        'nobody else sees it',
        `p${person} must not see text ${number} in ${method} ${path}: ${body}`,
      );
    }
    return answer;
  }

  /** Repeats a request until the server answers. */
  async insist(person: Person, method: Call['method'], path: string, params: Params, options: CallOptions = {}) {
    let losesAnswer = options.losesAnswer ?? false;
    for (;;) {
      try {
        return await this.call(person, method, path, params, { ...options, losesAnswer });
      } catch (error) {
        if (!(error instanceof ConnectionLost)) throw error;
        if (!losesAnswer && !this.engine.isDead && this.recovering === null) {
          throw new Violation('every request is answered', `p${person} ${method} ${path}`);
        }
        losesAnswer = false;
        this.mayHaveRepeated = true;
        if (this.engine.isDead) await this.recover();
      }
    }
  }

  /** Restarts the server after a crash. */
  recover(): Promise<void> {
    this.recovering ??= this.restart().finally(() => {
      this.recovering = null;
    });
    return this.recovering;
  }

  private async restart(): Promise<void> {
    this.trace('crash and restart');
    this.excuseJobs();
    await this.engine.restart();
  }

  /** Jobs may be late or fail from now on: scheduled messages by their age, all others for a while. */
  excuseJobs(seconds = 1): void {
    for (const scheduled of this.model.scheduled.values()) scheduled.isExcused = true;
    const checkAfter = this.time.now() + seconds;
    for (const reminder of this.model.reminders) reminder.checkAfter = Math.max(reminder.checkAfter, checkAfter);
  }

  jumpClock(seconds: number): void {
    this.trace(`clock ${seconds}`);
    this.time.jumpClock(seconds);
    this.excuseJobs(Math.max(CLOCK_PATIENCE_SECONDS, -seconds));
  }

  failDisk(failure: DiskFailure, steps: number): void {
    this.trace(`the disk is ${failure}`);
    this.engine.disk.failure = failure;
    this.failingSteps = steps;
  }

  /** Begins a step. */
  beginStep(): void {
    this.mayHaveRepeated = false;
    if (!this.engine.isDiskFailing || --this.failingSteps > 0) return;
    this.trace('the disk works');
    this.engine.disk.failure = null;
    this.excuseJobs(JOB_PATIENCE_SECONDS);
  }

  /** Copies the database, as an operator does every night. */
  backUp(): void {
    this.engine.disk.backUp();
    this.model.backUp();
    this.savedChanges = this.changes;
  }

  /** The machine is lost, and a new one starts with the last backup. */
  async restoreBackup(): Promise<void> {
    if (!this.engine.disk.hasBackup) return;
    this.trace('the last backup is restored');
    await this.engine.crash();
    this.engine.disk.loseToBackup();
    this.model.restore();
    for (const device of this.devices.values()) {
      device.deliveries.forgetAfter(this.savedChanges);
      device.mayKnowLost = true;
    }
    await this.recover();
  }

  goOffline(person: Person): void {
    this.offline.add(person);
  }

  async comeBack(person: Person): Promise<void> {
    this.offline.delete(person);
    await this.catchUp(person);
  }

  /** Requests a long page and reads nothing of it until `endSlowReads`. */
  readSlowly(person: Person): void {
    let read = () => {};
    const waiting = new Promise<void>((resolve) => {
      read = resolve;
    });
    const params = { anchor: 'newest', num_before: PAGE, num_after: 0, narrow: [] };
    const { authorization } = this.people[person]!;
    const done = this.engine.callSlowly({ method: 'GET', path: '/messages', params, authorization }, waiting).then(
      ({ status, body }) => this.trace(`p${person} has read slowly → ${status} ${body.length}`),
      (error) => {
        if (!(error instanceof ConnectionLost)) throw error;
      },
    );
    done.catch(() => {});
    this.slowReaders.push({ read, done });
  }

  /** Slow readers read at last, and must get everything. */
  async endSlowReads(): Promise<void> {
    for (const { read, done } of this.slowReaders.splice(0)) {
      read();
      await done;
    }
  }

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
    const { status } = await this.insist(by, 'POST', '/users/me/subscriptions', {
      subscriptions: [{ name: channel.name }],
      principals: people.map((person) => this.people[person]!.id),
      send_new_subscription_messages: false,
    });
    if (status === 200) for (const person of people) this.model.subscribe(person, channel);
  }

  /** A client sends once, however often it repeats the request. */
  localIdOf(person: Person): string {
    const next = (this.localIds.get(person) ?? 0) + 1;
    this.localIds.set(person, next);
    return `${next}`;
  }

  wireOf(destination: Destination): Params {
    return 'channel' in destination
      ? { type: 'channel', to: destination.channel.id, topic: destination.topic }
      : { type: 'direct', to: [...destination.participants].map((person) => this.people[person]!.id) };
  }

  /** Registers a new client. */
  async connect(person: Person): Promise<void> {
    const { status, json } = await this.register(person);
    if (status !== 200) return;
    for (const { name, id } of json.realm_user_groups) {
      if (name === 'role:everyone') this.groups.everyone = id;
      if (name === 'role:moderators') this.groups.moderators = id;
    }
    const newest = Math.max(0, ...this.model.channels.keys());
    this.devices.set(person, {
      queueId: json.queue_id,
      lastEventId: json.last_event_id,
      synced: new SyncedState(ALL_CAPABILITIES, json, newest),
      deliveries: new Deliveries(),
      mayKnowLost: false,
    });
    this.model.hasCaughtUp(person);
  }

  disconnect(person: Person): void {
    this.devices.delete(person);
  }

  /** Expects an event about the message at the clients of its audience, and nowhere else. */
  publish(change: Change, message: Message, audience: Audience): void {
    const order = ++this.changes;
    // A repeated edit or move may be published again.
    const repeated = this.mayHaveRepeated && change === 'update' ? 2 : 1;
    for (const [person, { deliveries }] of this.devices) {
      const isUpToDate = !this.offline.has(person) && !this.engine.isDiskFailing;
      const isSure = audience.always.has(person) || (isUpToDate && audience.now.has(person));
      const mayReceive = isSure || audience.now.has(person) || (audience.maybe?.has(person) ?? false);
      const [least, most] = [isSure ? 1 : 0, mayReceive ? repeated : 0];
      deliveries.expect({ change, messageId: message.id, least, most, order });
    }
  }

  /**
   * Expects the events of a moved message. Holders of a public one get the update if they hold the named message. The
   * contract of other moves between channels is checked by the sync law.
   */
  publishMove(message: Message, before: Audience, named: Message, isToOtherChannel: boolean): void {
    const after = this.model.watchers(message);
    const holders = this.model.watchers(named).now;
    if (!isToOtherChannel) {
      const isProtected = after.always.size === 0;
      const now = isProtected || message === named ? after.now : NOBODY;
      this.publish('update', message, { always: after.always, now, maybe: new Set([...after.now, ...holders]) });
      return;
    }
    const all = new Set([...before.always, ...before.now, ...after.always, ...after.now, ...holders]);
    const mayRead = (person: Person) => this.model.mayRead(person, message);
    this.publish('update', message, { ...NOBODY_SURELY, maybe: new Set([...all].filter(mayRead)) });
    this.publish('delete', message, { ...NOBODY_SURELY, maybe: new Set([...all].filter((each) => !mayRead(each))) });
  }

  /** Expects the events of a new message. `isOnTime` is false if it may have been delivered long ago. */
  adopt(message: Message, isOnTime = true): void {
    const receivers = new Set(message.rows);
    this.publish(
      'message',
      message,
      isOnTime ? { always: receivers, now: NOBODY } : { ...NOBODY_SURELY, maybe: receivers },
    );
  }

  /** The person's client has received its events about messages, and no others. */
  async checkEvents(person: Person): Promise<void> {
    await this.catchUp(person);
    if (this.offline.has(person)) return;
    const { messages } = this.model;
    const isDeleted = (id: number) => messages.get(id)?.isDeleted ?? false;
    this.devices.get(person)?.deliveries.check(`p${person}`, (id) => messages.has(id), isDeleted);
  }

  /** Applies all waiting events to a person's client, which registers again if its queue has expired. */
  async catchUp(person: Person): Promise<void> {
    const device = this.devices.get(person);
    if (!device || this.offline.has(person)) return;
    for (;;) {
      const params = { queue_id: device.queueId, last_event_id: device.lastEventId, dont_block: true };
      const { status, json } = await this.insist(person, 'GET', '/events', params);
      if (json?.code === 'BAD_EVENT_QUEUE_ID' || (status === 400 && device.mayKnowLost)) {
        await this.connect(person);
        return;
      }
      if (status !== 200) throw new Violation('events are delivered', `p${person}: ${JSON.stringify(json)}`);
      if (json.events.length === 0) break;
      for (const event of json.events) this.applyEvent(person, device, event);
    }
    this.model.hasCaughtUp(person);
  }

  private applyEvent(person: Person, device: Device, event: Wire): void {
    if (event.id <= device.lastEventId) {
      throw new Violation('event ids increase', `p${person}: ${event.id} after ${device.lastEventId}`);
    }
    if (event.type === 'message' && this.model.messages.get(event.message.id)?.isDeleted) {
      throw new Violation('a deleted message is gone', `p${person} gets an event of message ${event.message.id}`);
    }
    device.synced.apply(event);
    device.deliveries.receive(event);
    device.lastEventId = event.id;
  }

  /** Checks everything that one person sees. */
  async checkPerson(person: Person): Promise<void> {
    await this.checkEvents(person);
    const { json } = await this.register(person);
    this.checkUnread(person, json.unread_msgs);
    const device = this.devices.get(person);
    if (device && !this.offline.has(person)) {
      const [state, fresh] = [device.synced.state, device.synced.comparableOf(json)];
      const differs = (key: string) => !isDeepStrictEqual(state[key], fresh[key]);
      const wrong = Object.keys(fresh).filter((key) => key !== START_OF_SERVER && differs(key));
      if (wrong.length > 0) {
        const details = wrong.map((key) => `${key}: has ${show(state[key])}, server has ${show(fresh[key])}`);
        throw new Violation('sync law', `p${person} ${details.join('; ')}`);
      }
    }
    await this.insist(person, 'DELETE', '/events', { queue_id: json.queue_id });
    for (const channel of this.model.channels.values()) await this.checkChannel(person, channel);
    await this.checkDirects(person);
  }

  /** The people see the message, or nothing of it. */
  async checkMessage(message: Message, people: readonly Person[]): Promise<void> {
    for (const person of people) {
      const { status, json } = await this.insist(person, 'GET', `/messages/${message.id}`, { apply_markdown: false });
      const isShown = status === 200;
      if (isShown !== this.model.mayRead(person, message)) {
        throw new Violation('who may read, reads', `p${person} GET /messages/${message.id} → ${JSON.stringify(json)}`);
      }
      if (isShown) this.checkContent(person, message, json.message);
    }
  }

  /** The person sees nothing of the newest message without permission. */
  async checkHidden(person: Person): Promise<void> {
    const hidden = [...this.model.messages.values()].findLast((message) => !this.model.mayRead(person, message));
    if (hidden) await this.checkMessage(hidden, [person]);
  }

  /** Reads a file, or is refused. */
  async checkFile(person: Person, file: StoredFile): Promise<void> {
    const { status, body } = await this.insist(person, 'GET', `/user_uploads/${file.path}`, {}, { isPage: true });
    // The store of a lost machine has already removed files that its backup still names.
    if (this.model.removedPaths.has(file.path) && !file.isDeleted) return;
    const isShown = this.model.mayReadFile(person, file);
    const isUnused = !this.model.isLinked(file) && file.sentAt + KEPT_UNUSED_SECONDS < this.time.now();
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
    const isOld = message.sentAt + INDEX_PATIENCE_SECONDS < this.time.now();
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

  /** Adopts delivered messages, and checks that due jobs have run once. */
  async checkJobs(): Promise<void> {
    for (const scheduled of [...this.model.scheduled.values()]) {
      if (scheduled.dueAt <= this.time.now()) await this.checkScheduled(scheduled);
    }
    for (const reminder of [...this.model.reminders]) {
      const { dueAt, checkAfter } = reminder;
      const isOnTime = checkAfter === dueAt;
      if (checkAfter + (isOnTime ? 0 : JOB_PATIENCE_SECONDS) > this.time.now()) continue;
      const { json } = await this.page(reminder.author, [{ operator: 'is', operand: 'dm' }]);
      const copies = json.messages.filter(({ content }: Wire) => numbersIn(content).has(reminder.number));
      if (isOnTime) this.checkTime(`reminder ${reminder.number}`, dueAt, copies);
      const count = copies.length;
      if (count !== 1) {
        throw new Violation(
          'jobs due are done once',
          `p${reminder.author} got reminder ${reminder.number} ${count} times`,
        );
      }
      this.model.reminders.delete(reminder);
    }
  }

  private async checkScheduled(scheduled: Scheduled): Promise<void> {
    const { author, destination, id, number } = scheduled;
    const { json } = await this.insist(author, 'GET', '/scheduled_messages', {});
    const entry = json.scheduled_messages.find((each: Wire) => each.scheduled_message_id === id);
    const found = await this.messagesIn(author, destination);
    const copies = found.filter(({ content }) => numbersIn(content).has(number));
    if (copies.length > 1) {
      throw new Violation('jobs due are done once', `scheduled message ${id} was sent ${copies.length} times`);
    }
    if (copies.length === 1) {
      if (!scheduled.isExcused) this.checkTime(`scheduled message ${id}`, scheduled.dueAt, copies);
      this.model.scheduled.delete(id);
      const message = this.model.send(copies[0].id, author, destination, number, this.time.now());
      this.adopt(message, !scheduled.isExcused);
      return;
    }
    if (entry?.failed) {
      const mayPost = !('channel' in destination) || this.model.mayPost(author, destination.channel);
      if (mayPost && !scheduled.isExcused) throw new Violation('jobs due are done once', `${id} has failed`);
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

  private async messagesIn(person: Person, destination: Destination): Promise<readonly Wire[]> {
    const narrow =
      'channel' in destination
        ? { operator: 'channel', operand: destination.channel.id }
        : { operator: 'is', operand: 'dm' };
    const { json } = await this.page(person, [narrow]);
    return json.messages ?? [];
  }

  private async checkChannel(person: Person, channel: Channel): Promise<void> {
    const narrow = [{ operator: 'channel', operand: channel.id }];
    const { status, json } = await this.page(person, narrow);
    const expected = this.expectedIn(
      person,
      (destination) => 'channel' in destination && destination.channel === channel,
    );
    if (status !== 200 && expected.length === 0) return;
    this.checkList(person, `channel ${channel.name}`, expected, json.messages ?? []);
  }

  private async checkDirects(person: Person): Promise<void> {
    const { json } = await this.page(person, [{ operator: 'is', operand: 'dm' }]);
    const expected = this.expectedIn(person, (destination) => 'participants' in destination);
    this.checkList(person, 'direct messages', expected, json.messages ?? []);
  }

  private expectedIn(person: Person, isIn: (destination: Destination) => boolean): readonly Message[] {
    return this.model.readable(person).filter(({ destination }) => isIn(destination));
  }

  private checkList(person: Person, place: string, all: readonly Message[], shown: readonly Wire[]): void {
    const expected = all.slice(-PAGE);
    // Notices of bots are not modelled.
    const ids = new Set(this.people.map(({ id }) => id));
    const found = shown.filter((each) => ids.has(each.sender_id));
    const [want, have] = [expected.map(({ id }) => id).sort(ascending), found.map(({ id }) => id)];
    if (!isDeepStrictEqual(want, have)) {
      const missing = want.filter((id) => !have.includes(id));
      const extra = have.filter((id) => !want.includes(id));
      throw new Violation(
        'what was acknowledged exists exactly once',
        `p${person} in ${place}: missing ${missing}, unexpected ${extra}`,
      );
    }
    for (const message of expected)
      this.checkContent(
        person,
        message,
        found.find(({ id }) => id === message.id),
      );
  }

  private checkContent(person: Person, message: Message, shown: Wire): void {
    const topic = 'channel' in message.destination ? message.destination.topic : '';
    const reactions = shown.reactions.map(({ user_id }: Wire) => user_id).sort(ascending);
    const expected = [...message.reactions].map((each) => this.people[each]!.id).sort(ascending);
    const isRight =
      shown.content === contentOf(message) &&
      shown.subject === topic &&
      shown.sender_id === this.people[message.sender]!.id &&
      isDeepStrictEqual(reactions, expected);
    if (!isRight) {
      throw new Violation('what was acknowledged exists', `p${person} sees message ${message.id} as ${show(shown)}`);
    }
  }

  private checkUnread(person: Person, { pms, streams, huddles }: Wire): void {
    const shown = [...pms, ...streams, ...huddles]
      .flatMap(({ unread_message_ids }: Wire) => unread_message_ids as number[])
      .filter((id) => this.model.messages.has(id))
      .sort(ascending);
    const expected = this.model.unreadOf(person);
    if (!isDeepStrictEqual(shown, expected)) {
      throw new Violation('unread messages', `p${person} has ${show(shown)}, expected ${show(expected)}`);
    }
  }

  private register(person: Person): Promise<Answer> {
    const params = { client_capabilities: ALL_CAPABILITIES, client_gravatar: false, include_subscribers: 'true' };
    return this.insist(person, 'POST', '/register', params);
  }

  private page(person: Person, narrow: readonly object[]): Promise<Answer> {
    const params = { anchor: 'newest', num_before: PAGE, num_after: 0, narrow, apply_markdown: false };
    return this.insist(person, 'GET', '/messages', params);
  }
}

const ascending = (a: number, b: number): number => a - b;

const MAX_SHOWN = 1500;
const show = (value: unknown): string => (JSON.stringify(value) ?? 'nothing').slice(0, MAX_SHOWN);
