import { createHash } from 'node:crypto';
import { ALL_CAPABILITIES, type Capabilities, SyncedState, withoutOne } from '@parley/testkit/synced-state';
import { type Change, Deliveries } from './deliveries.js';
import type { DiskFailure } from './disk.js';
import type { Account, Engine } from './engine.js';
import {
  type Audience,
  type Channel,
  type Destination,
  type Message,
  type Model,
  numbersIn,
  type Person,
} from './model.js';
import { Notifications } from './notifications.js';
import { type Moment, Polls } from './polls.js';
import { type SimulatedTime, settle } from './simulated-time.js';
import { Violation } from './violation.js';
import { type Answer, type Call, ConnectionLost } from './wire.js';

type Params = Readonly<Record<string, unknown>>;
type CallOptions = Pick<Call, 'cut' | 'file' | 'isPage'> & {
  /** Called when the connection was cut. */
  readonly beforeRetry?: () => Promise<void>;
};
// biome-ignore lint/suspicious/noExplicitAny: wire data
type Wire = any;

/** Derived from random seeds, so they differ between runs. */
const API_KEYS = /"api_key":"\w+"/g;

/** Client of a person: its queue and what it shows. */
export interface Device {
  readonly capabilities: Capabilities;
  readonly queueId: string;
  lastEventId: number;
  readonly polls: Polls;
  readonly synced: SyncedState;
  readonly deliveries: Deliveries;
  /** True if a restored backup may have lost events that the client knows. */
  mayKnowLost: boolean;
  /** True if the next poll loses its answer. */
  losesPoll: boolean;
}

/** Poll that waits for the next event of a client. */
interface WaitingPoll {
  readonly device: Device;
  readonly connection: AbortController;
  /** Null until the next event. */
  answer: Answer | null;
  /** Numbers of texts in the answer that the person could not read when it came. */
  doubtful: readonly number[];
}

/** Clients of people by person. */
interface Clients {
  readonly devices: Map<Person, Device>;
  /** Capabilities of the next client that registers. */
  readonly capabilities: () => Capabilities;
  /** Time without polls after which a queue ends. */
  readonly idleSeconds: number;
}

/** Time without polls after which an event queue ends (events §6.1). */
const IDLE_SECONDS = 600;
const LONGEST_IDLE_SECONDS = 7 * 86_400;

/** Maximum delay of a due job after a fault. */
export const JOB_PATIENCE_SECONDS = 5 * 60;
/** Time after which a server has renewed the mark of its history, rounded with other work. */
const RENEWED_MS = 120_000;
/** Messages per long page. */
export const PAGE = 1000;
/** Number of events from which on a response may have left out others. */
const FULL_RESPONSE = 100;
/** Time after which the server must have noticed a change of its clock. */
const CLOCK_PATIENCE_SECONDS = 60;
const NOBODY: ReadonlySet<Person> = new Set();
const NOBODY_SURELY = { always: NOBODY, now: NOBODY };

interface AudienceOfMove extends Audience {
  /** Watchers of any of the moved messages. */
  readonly watching: ReadonlySet<Person>;
  /** People who had one of the moved messages, possibly without access to it. */
  readonly holding: ReadonlySet<Person>;
  readonly from: Channel;
}

/** People of a simulated company with their clients. */
export class CompanyClients {
  readonly devices = new Map<Person, Device>();
  private readonly desktops: Clients = {
    devices: this.devices,
    capabilities: () => ALL_CAPABILITIES,
    idleSeconds: IDLE_SECONDS,
  };
  /** Second client of each person, without one capability. It polls only before checks: its queue lives for days. */
  protected readonly phones: Clients = {
    devices: new Map(),
    capabilities: () => withoutOne(this.calls),
    idleSeconds: LONGEST_IDLE_SECONDS,
  };
  /** Groups that settings name. */
  readonly groups = { everyone: 0, moderators: 0, members: 0, crew: 0, helpers: 0 };
  /** True if a request of this step was sent again, because its answer was lost. */
  mayHaveRepeated = false;
  /** People who are at work. The clients of all others are offline. */
  present: readonly Person[];
  /** Number of steps until the person is online again. */
  readonly offline = new Map<Person, number>();
  /** True if other people act at the same time. */
  private isTogether = false;
  private recovering: Promise<void> | null = null;
  /** Number of steps until the disk works again. */
  private failingSteps = 0;
  /** Latest time that the clock showed before a jump. */
  protected latestTime = 0;
  private waiting: WaitingPoll | null = null;
  private readonly slowReaders: { read: () => void; readonly done: Promise<void> }[] = [];
  /** Number of published changes. */
  private changes = 0;
  /** Number of published changes, time and last event of the backup. */
  private saved = { changes: 0, at: 0, lastEventId: 0 };
  /** Number of calls. */
  calls = 0;
  private readonly hash = createHash('sha256');
  private readonly localIds = new Map<Person, number>();
  readonly notifications = new Notifications(this);

  constructor(
    readonly engine: Engine,
    readonly time: SimulatedTime,
    readonly model: Model,
    readonly people: readonly Account[],
    private readonly onTrace: (line: string) => void,
  ) {
    this.present = [...people.keys()];
  }

  isOnline(person: Person): boolean {
    return this.present.includes(person) && !this.offline.has(person);
  }

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
    const { authorization, copyHost } = this.people[person]!;
    this.calls++;
    const label = `p${person} ${method} ${path} ${JSON.stringify(params)}${options.file ?? ''}`;
    let answer: Answer;
    try {
      answer = await this.engine.call({ method, path, params, authorization, copyHost, ...options }, person);
    } catch (error) {
      if (error instanceof ConnectionLost) this.trace(`${label} → no answer`);
      throw error;
    }
    const { status, body, json } = answer;
    const sum = createHash('sha256').update(body.replace(API_KEYS, '')).digest('hex').slice(0, 12);
    this.trace(`${label} → ${status} ${json?.code ?? json?.id ?? ''} ${sum}`);
    if (status >= 500 && !this.engine.isDiskFailing) {
      throw new Violation('no internal errors', [`${label} → ${body}`, ...this.engine.problems].join('\n'));
    }
    const shown = numbersIn(body);
    // Responses may repeat what a request writes, but not what it searches for.
    const sent = method === 'GET' ? new Set() : numbersIn(JSON.stringify(params));
    for (const number of shown) if (!sent.has(number)) this.requireVisible(person, number, path, answer);
    return answer;
  }

  private requireVisible(person: Person, number: number, path: string, { body, json }: Answer): void {
    if (this.model.mayShow(person, number, this.time.now())) return;
    if (path === '/events' && this.model.mayEventsShow(person, number, json.events ?? [json])) return;
    throw new Violation('nobody else sees it', `p${person} must not see text ${number} in ${path}: ${body}`);
  }

  /** Repeats a request until the server answers. */
  async insist(person: Person, method: Call['method'], path: string, params: Params, options: CallOptions = {}) {
    let { cut } = options;
    for (;;) {
      try {
        return await this.call(person, method, path, params, { ...options, cut });
      } catch (error) {
        if (!(error instanceof ConnectionLost)) throw error;
        if (!cut && !this.engine.isDead && this.recovering === null) {
          throw new Violation('every request is answered', `p${person} ${method} ${path}`);
        }
        if (cut) await options.beforeRetry?.();
        cut = undefined;
        // Polls change nothing.
        if (path !== '/events') this.mayHaveRepeated = true;
        if (this.engine.isDead) await this.recover();
      }
    }
  }

  /** Does what `insist` does. @throws Violation if the server accepts what the person may not do */
  async attempt(isAllowed: boolean, ...[by, method, path, params]: Parameters<CompanyClients['insist']>) {
    const answer = await this.insist(by, method, path, params);
    if (answer.status === 200 && !isAllowed)
      throw new Violation('permissions as of the moment of use', `p${by} ${method} ${path} ${JSON.stringify(params)}`);
    return answer;
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
    // The first poll reads the log, and the second one must receive the same events.
    this.losePolls();
    await this.engine.restart();
  }

  /** Jobs may be late or fail from now on: scheduled messages by their age, all others for a while. */
  excuseJobs(seconds = 1): void {
    for (const scheduled of this.model.scheduled.values()) scheduled.isExcused = true;
    const checkAfter = this.time.now() + seconds;
    const atMs = this.time.elapsedMs() + seconds * 1000;
    const { reminders, drafts } = this.model;
    for (const reminder of reminders) reminder.checkAfter = Math.max(reminder.checkAfter, checkAfter);
    // A restored reminder or draft may still quote its message.
    for (const { message } of [...reminders, ...drafts.values()])
      if (message) message.deletedAtMs = Math.max(message.deletedAtMs, atMs);
    // The bot may get these questions again.
    for (const question of this.model.questions.values()) question.askedAtMs = Math.max(question.askedAtMs, atMs);
  }

  jumpClock(seconds: number): void {
    this.latestTime = Math.max(this.latestTime, this.time.now());
    this.trace(`clock ${seconds}`);
    this.time.jumpClock(seconds);
    this.excuseJobs(CLOCK_PATIENCE_SECONDS);
  }

  failDisk(failure: DiskFailure, steps: number): void {
    this.trace(`the disk is ${failure}`);
    this.engine.disk.failure = failure;
    this.failingSteps = steps;
  }

  /** Begins a step, which may be one of several at the same time. */
  beginStep(isTogether: boolean): void {
    this.mayHaveRepeated = false;
    this.isTogether = isTogether;
    this.engine.isSlow = isTogether;
    for (const [person, steps] of this.offline) {
      if (steps > 1) this.offline.set(person, steps - 1);
      else this.offline.delete(person);
    }
    if (this.engine.isDiskFailing && --this.failingSteps <= 0) this.repairDisk();
  }

  repairDisk(): void {
    this.trace('the disk works');
    this.engine.disk.failure = null;
    this.notifications.failures++;
    this.excuseJobs(JOB_PATIENCE_SECONDS);
  }

  /** Copies the database, as an operator does every night. */
  async backUp(): Promise<void> {
    this.engine.disk.backUp();
    this.model.backUp();
    this.saved = { changes: this.changes, at: this.time.now(), lastEventId: await this.engine.lastEventId() };
  }

  /** The machine is lost, and a new one starts with the last backup; `way`: without `parley restore`. */
  async restoreBackup(way?: 'as a file'): Promise<void> {
    if (!this.engine.disk.hasBackup) return;
    this.trace(`the last backup is ${way ? 'put back' : 'restored'}`);
    // A copy of the last minute is not noticed.
    if (way) await this.time.advanceTo(this.time.elapsedMs() + RENEWED_MS, this.engine);
    if (this.engine.isDead) await this.recover();
    await this.engine.crash();
    this.engine.disk.loseToBackup(way ? null : this.time.now() - this.saved.at, this.time);
    this.model.restore();
    for (const device of this.allDevices) {
      device.deliveries.forgetAfter(this.saved.changes);
      device.mayKnowLost = true;
    }
    await this.recover();
  }

  /** The server stops, and the next one finds the database of the last release. `stop`: see `upgradePlan`. */
  async upgrade(stop: number): Promise<void> {
    const { engine, model } = this;
    // The last release has no tables for imports and for what applications send.
    if (engine.isDiskFailing || engine.app || model.histories.length > 0) return;
    this.trace('the last release is upgraded');
    await engine.crash();
    engine.upgradePlan = stop;
    await this.recover();
  }

  /** Each client's next poll is repeated, because its answer is lost. */
  losePolls(): void {
    for (const device of this.allDevices) device.losesPoll = true;
  }

  private get allDevices(): readonly Device[] {
    return [...this.devices.values(), ...this.phones.devices.values()];
  }

  /** Called when the person gets a message without an event. */
  doubtNewest(person: Person): void {
    for (const { devices } of [this.desktops, this.phones]) devices.get(person)?.synced.doubtNewest();
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
    const done = this.engine
      .callSlowly({ method: 'GET', path: '/messages', params, authorization }, person, waiting)
      .then(
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
  async connect(person: Person, clients = this.desktops): Promise<void> {
    const capabilities = clients.capabilities();
    const { status, json } = await this.register(person, capabilities, clients.idleSeconds);
    if (status !== 200) return;
    for (const { name, id } of json.realm_user_groups) {
      if (name === 'role:everyone') this.groups.everyone = id;
      if (name === 'role:members') this.groups.members = id;
      if (name === 'role:moderators') this.groups.moderators = id;
      if (name === 'crew' || name === 'helpers') this.groups[name as 'crew'] = id;
    }
    const newestChannel = Math.max(0, ...this.model.channels.keys());
    const device = {
      capabilities,
      queueId: json.queue_id,
      lastEventId: json.last_event_id,
      polls: new Polls(this.moment, clients.idleSeconds),
      synced: new SyncedState(capabilities, json, newestChannel),
      deliveries: new Deliveries(`p${person}`, json, this.isTogether),
      mayKnowLost: false,
      losesPoll: false,
    };
    clients.devices.set(person, device);
    // Former readers keep the message until it is moved, of which no event tells them (messages §9.4).
    const newest = this.model.messages.get(json.max_message_id);
    if (newest && !this.model.mayRead(person, newest)) device.synced.doubtNewest();
  }

  /** Expects an event about the message at the clients of its audience, and nowhere else. */
  publish(change: Change, message: Message, audience: Audience): void {
    const order = ++this.changes;
    // A repeated edit or move may be published again.
    const repeated = this.mayHaveRepeated && change === 'update' ? 2 : 1;
    for (const [person, { deliveries }] of this.devices) {
      const isUpToDate = this.isOnline(person) && !this.engine.isDiskFailing;
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
  publishMove(message: Message, before: AudienceOfMove, named: Message, isToOtherChannel: boolean): void {
    const after = this.model.watchers(message);
    const holders = this.model.watchers(named).now;
    if (!isToOtherChannel) {
      const isProtected = after.always.size === 0;
      const now = isProtected || message === named ? after.now : NOBODY;
      this.publish('update', message, { always: after.always, now, maybe: new Set([...after.now, ...holders]) });
      return;
    }
    // Events of moves name all moved messages.
    const { from, watching, holding } = before;
    const former = [...before.always, ...before.now, ...(before.maybe ?? []), ...watching, ...from.subscribers];
    const all = new Set([...former, ...after.always, ...after.now, ...holders]);
    const mayRead = (person: Person) => this.model.mayRead(person, message);
    this.publish('update', message, { ...NOBODY_SURELY, maybe: new Set([...all, ...holding].filter(mayRead)) });
    // Nobody hears of messages of a protected history that they never had.
    const mayHear = (person: Person) => !from.isPrivate || from.isShared || before.maybe!.has(person);
    const hidden = new Set([...all].filter((each) => !mayRead(each) && mayHear(each)));
    const watchers = new Set([...before.always, ...before.now]);
    const losing = [...hidden].filter((each) => watchers.has(each) && before.maybe?.has(each));
    const { destination } = message;
    // Messages §9.4: nobody else sees a move into a private channel, even if a group lets them read it.
    if ('channel' in destination && destination.channel.isPrivate)
      for (const person of all) if (!destination.channel.subscribers.has(person) && mayHear(person)) hidden.add(person);
    this.publish('delete', message, { always: NOBODY, now: new Set(losing), maybe: hidden });
  }

  /** Expects the events of a new message. `isOnTime` is false if it may have been delivered long ago. */
  adopt(message: Message, isOnTime = true): void {
    const receivers = new Set(message.rows);
    const audience = isOnTime ? { always: receivers, now: NOBODY } : { ...NOBODY_SURELY, maybe: receivers };
    this.publish('message', message, audience);
  }

  /** True if the next poll has a result to check. */
  isDue(person: Person): boolean {
    const device = this.devices.get(person);
    if (!device || this.waiting?.device === device) return true;
    return device.losesPoll || device.deliveries.areDue || device.polls.isBefore(this.moment);
  }

  /** The person's client has received its events about messages, and no others. */
  async checkEvents(person: Person): Promise<void> {
    await this.catchUp(person);
    if (!this.isOnline(person)) return;
    const { messages } = this.model;
    const isDeleted = (id: number) => messages.get(id)?.isDeleted ?? false;
    this.devices.get(person)?.deliveries.check((id) => messages.has(id), isDeleted);
  }

  /** Applies all waiting events to a person's client, which registers again if its queue has expired. */
  async catchUp(person: Person, clients = this.desktops): Promise<void> {
    const device = clients.devices.get(person);
    if (!device || !this.isOnline(person)) return;
    let mustBeEmpty = await this.endWaiting(person, device);
    for (;;) {
      const params = { queue_id: device.queueId, last_event_id: device.lastEventId, dont_block: true };
      const cut = device.losesPoll ? 'answer' : undefined;
      device.losesPoll = false;
      const { status, json } = await this.insist(person, 'GET', '/events', params, { cut });
      if (json?.code === 'BAD_EVENT_QUEUE_ID' && !device.mayKnowLost && !device.polls.mayHaveEnded(this.moment))
        throw new Violation('queues end for a reason', `p${person} ${device.queueId}`);
      if (json?.code === 'BAD_EVENT_QUEUE_ID') {
        await this.connect(person, clients);
        return;
      }
      if (status !== 200 && this.engine.isDiskFailing) return;
      if (device.mayKnowLost && device.lastEventId > this.saved.lastEventId)
        throw new Violation('queues end with their history', `p${person} ${device.queueId}`);
      if (status !== 200) throw new Violation('events are delivered', `p${person}: ${JSON.stringify(json)}`);
      device.polls.add(this.moment);
      if (mustBeEmpty && json.events.length > 0)
        throw new Violation('polls that wait are answered', `p${person} ${JSON.stringify(json.events)}`);
      mustBeEmpty = false;
      for (const event of json.events) {
        if (event.type === 'message' && this.model.messages.get(event.message.id)?.isDeleted)
          throw new Violation('a deleted message is gone', `p${person} gets an event of message ${event.message.id}`);
        this.applyEvent(person, device, event);
      }
      if (json.events.length < FULL_RESPONSE) break;
    }
  }

  /** The person's client waits for its next event until the end of the next step: heartbeats come in real time. */
  wait(person: Person): void {
    const device = this.devices.get(person);
    if (!device || !this.isOnline(person) || this.engine.isDead) return;
    if (device.polls.mayHaveEnded(this.moment)) return;
    const waiting: WaitingPoll = { device, connection: new AbortController(), answer: null, doubtful: [] };
    this.waiting = waiting;
    device.polls.add(this.moment);
    const params = { queue_id: device.queueId, last_event_id: device.lastEventId };
    const { authorization } = this.people[person]!;
    const { signal } = waiting.connection;
    this.engine.callSlowly({ method: 'GET', path: '/events', params, authorization, signal }, person).then(
      (answer) => {
        waiting.answer = answer;
        const mayShow = (number: number) => this.model.mayShow(person, number, this.time.now());
        waiting.doubtful = [...numbersIn(answer.body)].filter((number) => !mayShow(number));
      },
      () => {
        if (this.waiting === waiting) this.waiting = null;
      },
    );
  }

  stopWaiting(): void {
    this.waiting?.connection.abort();
    this.waiting = null;
  }

  /** Applies the events for which the client has waited. Returns true if the poll still waits, because there are none. */
  private async endWaiting(person: Person, device: Device): Promise<boolean> {
    if (this.waiting?.device !== device) return false;
    await settle(this.engine.isBusy);
    const { waiting } = this;
    this.waiting = null;
    // The next poll gets the same events.
    if (!waiting || this.isTogether || device.mayKnowLost) return false;
    const { answer, doubtful } = waiting;
    if (answer === null) return !this.engine.isDiskFailing;
    const events: readonly Wire[] = answer.json?.events ?? [];
    this.trace(`p${person} has waited → ${answer.status} ${events.map(({ id }) => id)}`);
    for (const number of doubtful) this.requireVisible(person, number, '/events', answer);
    for (const event of events) this.applyEvent(person, device, event);
    return false;
  }

  private get moment(): Moment {
    const { time, engine, model } = this;
    return { atMs: time.elapsedMs(), at: time.now(), crashes: engine.crashes, accessChanges: model.accessChanges };
  }

  private applyEvent(person: Person, device: Device, event: Wire): void {
    if (event.id <= device.lastEventId) {
      throw new Violation('event ids increase', `p${person}: ${event.id} after ${device.lastEventId}`);
    }
    device.synced.apply(event);
    device.deliveries.receive(event);
    device.lastEventId = event.id;
  }

  /** `parts`: types of the events that change what the response has; null for everything. */
  register(
    person: Person,
    capabilities: Capabilities,
    idleSeconds: number,
    parts: readonly string[] | null = null,
  ): Promise<Answer> {
    const params = { client_capabilities: capabilities, client_gravatar: false, include_subscribers: 'true' };
    const wanted = { ...(parts && { fetch_event_types: parts }), idle_queue_timeout: idleSeconds };
    return this.insist(person, 'POST', '/register', { ...params, ...wanted });
  }
}
