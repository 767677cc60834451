import { destinationOf, type Narrow } from '../kernel/narrow.js';
import type { Clock, Gateway } from '../kernel/ports.js';
import type { ChatState } from '../kernel/state.js';
import { withFlag } from './messages.js';
import { markRead } from './unread.js';

/** Delay for batching read marks into one call. */
const COLLECT_MS = 1000;
const RETRY_MS = 5000;
const MAX_PER_CALL = 1000;
const POLICY = { always: 1, conversations: 2, never: 3 };

/** Marks visible messages as read: immediately in the state, batched for the server. */
export class ReadMarks {
  private readonly waiting = new Set<number>();
  private sending = Promise.resolve();
  private cancel: (() => void) | null = null;
  private isStopped = false;

  constructor(
    private readonly state: ChatState,
    private readonly gateway: Gateway,
    private readonly clock: Clock,
  ) {}

  /** Marks messages seen in a list, if the user's settings allow it. Searches and starred messages mark nothing. */
  seen(narrow: Narrow, ids: readonly number[]): void {
    const policy = this.state.fields.peek('user_settings')?.web_mark_read_on_scroll_policy ?? POLICY.always;
    if (policy === POLICY.never || (policy === POLICY.conversations && !destinationOf(narrow))) return;
    if (narrow.some(({ operator }) => !MARKING.has(operator))) return;
    this.mark(ids);
  }

  /** Marks messages as read. */
  mark(ids: readonly number[]): void {
    const unread = ids.filter((id) => this.state.unread.destinations.has(id));
    if (unread.length === 0) return;
    applyRead(this.state, unread);
    for (const id of unread) this.waiting.add(id);
    this.schedule(COLLECT_MS);
  }

  /** Reapplies pending read marks to a fresh state. */
  reapply(): void {
    applyRead(this.state, [...this.waiting]);
  }

  /** Sends pending marks; later marks are not sent. */
  stop(): void {
    this.isStopped = true;
    void this.flush();
  }

  /** Sends pending marks. Resolves once no pending mark can undo a later change. */
  flush(): Promise<void> {
    this.cancel?.();
    this.cancel = null;
    this.sending = this.sending.then(() => this.send());
    return this.sending;
  }

  private schedule(ms: number): void {
    if (!this.isStopped) this.cancel ??= this.clock.after(ms, () => void this.flush());
  }

  private async send(): Promise<void> {
    const messages = [...this.waiting].slice(0, MAX_PER_CALL);
    if (messages.length === 0) return;
    try {
      await this.gateway.post('/messages/flags', { messages, op: 'add', flag: 'read' });
      for (const id of messages) this.waiting.delete(id);
      if (this.waiting.size > 0) this.schedule(COLLECT_MS);
    } catch {
      this.schedule(RETRY_MS);
    }
  }
}

/** Operators of narrows in which viewing messages marks them as read. */
const MARKING = new Set(['channel', 'topic', 'dm', 'with']);

export function applyRead(state: ChatState, ids: readonly number[]): void {
  markRead(state, ids);
  for (const id of ids)
    state.messages.change(id, (message) => ({ ...message, flags: withFlag(message.flags, 'read', true) }));
}
