import type { TabEvents, TabMessage, Tabs } from '../kernel/ports.js';

/** Simulated browser for tests and programs: tabs in the order in which they wait for leadership. */
export class MemoryTabs {
  private readonly waiting: MemoryTab[] = [];
  private leader: MemoryTab | null = null;

  /** Opens another tab. */
  open(): MemoryTab {
    return new MemoryTab(this);
  }

  /** Starts waiting for leadership. */
  enter(tab: MemoryTab): void {
    this.waiting.push(tab);
    if (this.leader === null) this.next();
  }

  steal(tab: MemoryTab): void {
    const last = this.leader;
    this.waiting.splice(this.waiting.indexOf(tab), 1);
    this.leader = tab;
    tab.deliver((events) => events.onLead());
    if (!last) return;
    this.waiting.push(last);
    last.deliver((events) => events.onLost());
  }

  send(from: MemoryTab, message: TabMessage): void {
    const text = JSON.stringify(message);
    for (const tab of [this.leader, ...this.waiting]) {
      if (tab && tab !== from) tab.deliver((events) => events.onMessage(JSON.parse(text)));
    }
  }

  leave(tab: MemoryTab): void {
    if (this.leader === tab) this.next();
    else this.waiting.splice(this.waiting.indexOf(tab), 1);
  }

  private next(): void {
    this.leader = this.waiting.shift() ?? null;
    this.leader?.deliver((events) => events.onLead());
  }
}

export class MemoryTab implements Tabs {
  /** Pending events while the tab is frozen; null otherwise. */
  private frozen: ((events: TabEvents) => void)[] | null = null;
  private events: TabEvents | null = null;

  constructor(private readonly group: MemoryTabs) {}

  get isFrozen(): boolean {
    return this.frozen !== null;
  }

  open(events: TabEvents): void {
    this.events = events;
    this.group.enter(this);
  }

  steal(): void {
    this.group.steal(this);
  }

  send(message: TabMessage): void {
    if (this.events && !this.frozen) this.group.send(this, message);
  }

  close(): void {
    if (this.events === null) return;
    this.events = null;
    this.group.leave(this);
  }

  /** Stops delivery, like a browser that saves power. */
  freeze(): void {
    this.frozen = [];
  }

  thaw(): void {
    const waiting = this.frozen ?? [];
    this.frozen = null;
    for (const call of waiting) this.deliver(call);
  }

  /** Delivers asynchronously, as browsers do. */
  deliver(call: (events: TabEvents) => void): void {
    if (this.frozen) this.frozen.push(call);
    else void Promise.resolve().then(() => this.events && call(this.events));
  }
}
