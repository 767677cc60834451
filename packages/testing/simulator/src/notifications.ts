import type { Account, Engine } from './engine.js';
import { type Message, type Model, numbersIn, type Person, textOf } from './model.js';
import { type Awaited, addressOf, BOT_URL, type Delivery, deliveryOf, tokenOf } from './outside.js';
import type { SimulatedTime } from './simulated-time.js';
import { Violation } from './violation.js';
import type { Answer } from './wire.js';

/** Maximum time until a phone shows a message. */
const PUSH_PATIENCE_MS = 60_000;

/** Company with the people who receive notifications. */
interface Receivers {
  readonly engine: Engine;
  readonly time: SimulatedTime;
  readonly model: Model;
  readonly people: readonly Account[];
  trace(line: string): void;
  insist(person: Person, method: string, path: string, params: Readonly<Record<string, unknown>>): Promise<Answer>;
}

/** Emails, notifications of phones, and questions to the bot, each of which its receiver gets once. */
export class Notifications {
  /** Id of the bot that answers each direct message. */
  botId = 0;
  /** Number of failures at the time of the last delivery, by receiver and text. */
  private readonly delivered = new Map<string, number>();
  /** Deliveries of this step that the receiver could not read when they were sent. */
  private doubtful: { readonly person: Person; readonly number: number; readonly kind: string }[] = [];
  private refusal: string | null = null;
  /** Notifications that must have arrived after a while, if the message is still unread. */
  private awaited: Awaited[] = [];
  /** Number of faults after which work may be done twice. */
  failures = 0;

  constructor(private readonly company: Receivers) {}

  /** Registers the phones of all people and creates the bot. */
  async open(): Promise<void> {
    this.company.engine.outside.onDelivery = (delivery) => this.receive(delivery);
    for (const person of this.company.people.keys()) {
      await this.company.insist(person, 'POST', '/users/me/android_gcm_reg_id', { token: tokenOf(person) });
    }
    const bot = { full_name: 'Echo', short_name: 'echo', bot_type: 3, payload_url: JSON.stringify(BOT_URL) };
    const { json } = await this.company.insist(0, 'POST', '/bots', { ...bot, interface_type: 1 });
    this.botId = json.user_id;
  }

  /** Records who received what, and answers as the bot. */
  private receive({ kind, to, text }: Delivery): string {
    this.company.trace(`${kind} to ${to}: ${[...numbersIn(text)]}`);
    const numbers = numbersIn(text);
    if (kind === 'bot') return this.answer(numbers);
    const person = [...this.company.people.keys()].find((each) => to === tokenOf(each) || to === addressOf(each));
    // People of copied companies have other addresses.
    if (person === undefined && ![...numbers].some((number) => number > 0)) return '';
    if (person === undefined) {
      this.refusal = `${to} gets text ${[...numbers]}`;
      return '';
    }
    for (const number of numbers) {
      if (!this.company.model.mayShow(person, number, this.company.time.now()))
        this.doubtful.push({ person, number, kind });
      const key = deliveryOf(kind, person, number);
      const earlier = this.delivered.get(key);
      const failures = this.failures + this.company.engine.crashes;
      // A reminder quotes an earlier message.
      const isRepeated = earlier === failures && !this.company.model.isQuotedFor(person, number);
      if (isRepeated && !this.company.engine.isDiskFailing) this.refusal = key;
      this.delivered.set(key, failures);
    }
    return '';
  }

  private answer(numbers: ReadonlySet<number>): string {
    const [number = 0] = numbers;
    const question = this.company.model.questionOf(number);
    // The edit history has former texts.
    if (!question || [...numbers].some((each) => this.company.model.questionOf(each) !== question)) {
      this.refusal = `the bot gets text ${[...numbers]}`;
      return '';
    }
    if (question.answer === 0) question.answer = this.company.model.newNumber();
    this.company.model.announce(question.answer, question.by);
    return JSON.stringify({ content: textOf(question.answer) });
  }

  /** Phones of those who receive the direct message show it soon. */
  awaitPush(message: Message): void {
    if ('channel' in message.destination || this.company.engine.isDiskFailing) return;
    const failures = this.failures + this.company.engine.crashes;
    const { number } = message;
    for (const person of message.unread) this.awaited.push({ person, message, number, failures });
  }

  private checkAwaited(): void {
    const isDue = ({ message }: Awaited) => message.sentAtMs + PUSH_PATIENCE_MS <= this.company.time.elapsedMs();
    const due = this.awaited.filter(isDue);
    this.awaited = this.awaited.filter((each) => !isDue(each));
    for (const { person, message, number, failures } of due) {
      const { unread, isDeleted } = message;
      const isExcused = failures !== this.failures + this.company.engine.crashes || this.company.engine.isDiskFailing;
      // Phones may have shown a former text.
      const isEdited = message.number !== number;
      const isShown = this.delivered.has(deliveryOf('push', person, number));
      if (isExcused || isEdited || isDeleted || isShown || !unread.has(person)) continue;
      throw new Violation('who may read, is notified', `the phone of p${person} does not show text ${number}`);
    }
  }

  /** Emails and notifications show nothing to the wrong person, and came once. */
  check(): void {
    this.checkAwaited();
    for (const { person, number, kind } of this.doubtful.splice(0)) {
      // The change that hid the text, or made it visible, may have been under way.
      if (this.company.model.mayShow(person, number, this.company.time.now())) continue;
      throw new Violation('nobody else sees it', `p${person} got an ${kind} with text ${number}`);
    }
    if (this.refusal !== null) throw new Violation('deliveries are made once', this.refusal);
  }
}
