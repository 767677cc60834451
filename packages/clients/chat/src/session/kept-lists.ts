import { narrowKey } from '../kernel/narrow.js';
import type { Clock } from '../kernel/ports.js';
import type { MessageList } from '../messages/message-list.js';
import type { Journal } from './journal.js';

/** Delay for batching list changes into one cache write. */
const KEEP_MS = 1000;

/** Message lists with changes that are not in the cache yet. */
export class KeptLists {
  private readonly changed = new Set<MessageList>();
  private cancelKeeping: (() => void) | null = null;

  constructor(
    private readonly journal: Journal,
    private readonly clock: Clock,
  ) {}

  /** Schedules a cache write for the messages of a list. */
  keepLater(list: MessageList): void {
    this.changed.add(list);
    this.cancelKeeping ??= this.clock.after(KEEP_MS, () => {
      this.cancelKeeping = null;
      for (const each of this.changed) {
        const messages = each.toKeep();
        if (messages) void this.journal.keepMessages(narrowKey(each.narrow), messages);
      }
      this.changed.clear();
    });
  }

  stop(): void {
    this.cancelKeeping?.();
  }
}
