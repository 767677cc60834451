import { type Caller, type ChannelId, DomainError, type RealmId, type UserId } from '@parley/domain/kernel';
import { NotifyTyping, SendMessage } from '@parley/domain/writing';
import type { ComposedParley } from '../composition/parley.js';
import { RecurringWorker, type Worker } from '../workers/recurring-worker.js';
import { CLIENT_NAME } from './create-demo.js';
import { DEMO_REALM } from './organization.js';

/** Message of a demo person while somebody watches. */
interface Line {
  readonly sender: string;
  readonly channel: string;
  readonly topic: string;
  readonly content: string;
}

const line = (sender: string, channel: string, topic: string, content: string): Line => ({
  ...{ sender: `${sender}@zulip.com`, channel, topic, content },
});

/** Public channels to which everybody subscribes. */
const LINES: readonly Line[] = [
  line('cordelia', 'general', 'picnic', 'Thanks, Prospero! I can bring plates as well.'),
  line('iago', 'Verona', 'balcony repairs', 'The carpenter has confirmed: **Thursday at ten**.'),
  line('ZOE', 'general', 'picnic', 'Do we have a plan for rain? :umbrella:'),
  line('prospero', 'general', 'picnic', 'I will speak to the weather.'),
  line('othello', 'Verona', 'balcony repairs', 'I can hold the ladder from noon on.'),
  line('AARON', 'general', 'lunch', 'Soup at half past twelve, anybody?'),
  line('desdemona', 'announce', 'news', 'The reading room is open again.'),
  line('iago', 'general', 'lunch', 'Count me in.'),
  line('cordelia', 'Verona', 'balcony repairs', 'Perfect. I have put it on the calendar.'),
  line('ZOE', 'sandbox', 'formatting', 'A table:\n\n| Act | Scenes |\n|---|---|\n| I | 5 |\n| II | 2 |'),
  line('prospero', 'general', 'picnic', 'It has agreed. No rain.'),
  line('othello', 'general', 'lunch', 'Is there any soup left?'),
];

const LOOK_MS = 3000;
const TYPING_MS = 5000;
const PAUSE_MS = 20_000;

/**
 * Demo people type and write while a client waits for events. Each line is sent once, in a demo created by this start;
 * afterwards they only type. Users with a waiting client stay silent, since the visitor acts as one of them.
 */
export class DemoActivity {
  private next = 0;
  private typing: Line | null = null;

  constructor(
    private readonly parley: Pick<ComposedParley, 'part' | 'ports' | 'findRealm' | 'useCase'>,
    /** True to send the lines; otherwise people only type. */
    private readonly sends: boolean,
  ) {}

  worker(): Worker {
    const { parley } = this;
    const recurrence = { name: 'the activity of the demo', firstDelayMs: LOOK_MS, run: () => this.step() };
    return new RecurringWorker(recurrence, parley.part('timers'), parley.part('report'));
  }

  /** Begins to type, or ends it with a message. Returns the delay until the next step in milliseconds. */
  async step(): Promise<number> {
    const realmId = await this.parley.findRealm(DEMO_REALM.stringId);
    if (realmId === null) return PAUSE_MS;
    try {
      return this.typing ? await this.finish(realmId, this.typing) : await this.begin(realmId);
    } catch (error) {
      // The visitor may archive channels and deactivate people.
      if (!(error instanceof DomainError)) throw error;
      this.typing = null;
      return PAUSE_MS;
    }
  }

  private async begin(realmId: RealmId): Promise<number> {
    const watchers = new Set(
      this.parley
        .part('hub')
        .liveQueues.filter(({ queue, isWaitedFor }) => isWaitedFor && queue.realmId === realmId)
        .map(({ queue }) => queue.ownerId),
    );
    if (watchers.size === 0) return LOOK_MS;
    const current = LINES[this.next++ % LINES.length]!;
    if (watchers.has((await this.find(realmId, current)).caller.userId)) return LOOK_MS;
    await this.notify(realmId, current, 'start');
    this.typing = current;
    return TYPING_MS;
  }

  private async finish(realmId: RealmId, current: Line): Promise<number> {
    this.typing = null;
    await this.notify(realmId, current, 'stop');
    if (!this.sends || this.next > LINES.length) return PAUSE_MS;
    const { caller, channelId } = await this.find(realmId, current);
    await this.parley.useCase(SendMessage).execute(caller, {
      to: { kind: 'channelId', id: channelId },
      topic: current.topic,
      content: current.content,
      isReadBySender: true,
      echo: null,
    });
    return PAUSE_MS;
  }

  private async notify(realmId: RealmId, current: Line, op: 'start' | 'stop'): Promise<void> {
    const { caller, channelId } = await this.find(realmId, current);
    const to = { kind: 'channel', channelId, topic: current.topic } as const;
    await this.parley.useCase(NotifyTyping).execute(caller, { op, to });
  }

  /** @throws DomainError UNKNOWN_USER, UNKNOWN_CHANNEL */
  private find(
    realmId: RealmId,
    { sender, channel }: Line,
  ): Promise<{ readonly caller: Caller; readonly channelId: ChannelId }> {
    return this.parley.ports.unitOfWork.read(realmId, async ({ users, channels }) => {
      const user = await users.findByEmail(realmId, sender);
      if (!user?.isActive) throw new DomainError('UNKNOWN_USER', 'Invalid user');
      const found = await channels.findByName(realmId, channel);
      if (!found) throw new DomainError('UNKNOWN_CHANNEL', 'Invalid channel');
      return { caller: { realmId, userId: user.id as UserId, clientName: CLIENT_NAME }, channelId: found.id };
    });
  }
}
