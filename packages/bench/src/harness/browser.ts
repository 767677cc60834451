import { CHROMIUM, CHROMIUM_FLAGS } from '@parley/testkit';
import { type Browser, type BrowserContext, type CDPSession, chromium, type Page } from 'playwright-core';

/** Account with a password of the organization that is opened. */
export interface BrowserUser {
  readonly email: string;
  readonly password: string;
}

/** Cookies of a person who is logged in. */
type Session = Awaited<ReturnType<BrowserContext['storageState']>>;

declare global {
  interface Window {
    /** Milliseconds from the start of the navigation until the first message was on screen; 0 before that. */
    firstMessageMs: number;
    longTasks: number[];
    /** Times from keys to the next paint. */
    keyMs: number[];
    /** Responses with events that the page received. */
    answers: string[];
  }
}

/** Records marks in every page before its scripts run. */
function observe(): void {
  window.firstMessageMs = 0;
  window.longTasks = [];
  window.keyMs = [];
  const look = () => {
    if (document.querySelector('[data-messages] article') === null) requestAnimationFrame(look);
    // A frame later the message was painted.
    else requestAnimationFrame(() => setTimeout(() => (window.firstMessageMs = performance.now())));
  };
  requestAnimationFrame(look);
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) window.longTasks.push(duration);
  }).observe({ type: 'longtask', buffered: true });
  new PerformanceObserver((list) => {
    for (const { name, duration } of list.getEntries()) if (name === 'keydown') window.keyMs.push(duration);
  }).observe({ type: 'event', durationThreshold: 16 } as PerformanceObserverInit);
}

/** Headless Chromium of the machine, with the session of one user. */
export class BenchBrowser {
  private constructor(
    private readonly browser: Browser,
    readonly url: string,
    private readonly session: Session,
  ) {}

  /** @throws Error without Chromium */
  static async start(port: number, { email, password }: BrowserUser): Promise<BenchBrowser> {
    if (CHROMIUM === undefined) throw new Error('This workload needs Chromium (Debian: apt-get install chromium)');
    const browser = await chromium.launch({ executablePath: CHROMIUM, args: CHROMIUM_FLAGS });
    const url = `http://localhost:${port}`;
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(`${url}/login/?next=/web/service-worker.js`);
    await page.fill('input[name=username]', email);
    await page.fill('input[name=password]', password);
    await page.click('button.wide');
    await page.waitForURL(/service-worker/);
    const session = await context.storageState();
    await context.close();
    return new BenchBrowser(browser, url, session);
  }

  /** Page in a browser profile with an empty cache. `hasPolicy` is false for pages of the bench's own scripts. */
  async open({ hasPolicy = true } = {}): Promise<Tab> {
    const context = await this.browser.newContext({
      storageState: this.session,
      bypassCSP: !hasPolicy,
      viewport: { width: 1280, height: 800 },
    });
    await context.addInitScript(observe);
    return Tab.in(context);
  }

  /** Records what the page's main thread does. */
  async trace(tab: Tab, activity: () => Promise<void>): Promise<readonly TraceEvent[]> {
    const categories = ['devtools.timeline', 'devtools.timeline.frame', 'v8.execute'];
    await this.browser.startTracing(tab.page, { categories });
    await activity();
    const { traceEvents } = JSON.parse((await this.browser.stopTracing()).toString()) as { traceEvents: TraceEvent[] };
    const main = traceEvents.filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain');
    const threads = new Set(main.map(({ pid, tid }) => `${pid} ${tid}`));
    const events = traceEvents.filter(({ pid, tid }) => threads.has(`${pid} ${tid}`));
    return events.sort((a, b) => a.ts - b.ts);
  }

  async stop(): Promise<void> {
    await this.browser.close();
  }
}

/** Event of Chromium's trace; times in microseconds. */
export interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  readonly ts: number;
  readonly dur?: number;
  /** Time of the thread's CPU, which other programs of the machine do not change. */
  readonly tdur?: number;
  readonly args?: { readonly name?: string; readonly data?: { readonly type?: string } };
}

const SCRIPT_EVENTS = new Set(['FunctionCall', 'RunMicrotasks', 'EvaluateScript', 'v8.callFunction', 'TimerFire']);

/** Milliseconds of CPU of the script that began between each pair of neighbouring times of a trace. */
export function scriptBetween(events: readonly TraceEvent[], times: readonly number[]): readonly number[] {
  const sums = times.slice(1).map(() => 0);
  let slot = 0;
  let countedUntil = 0;
  for (const { name, ph, ts, dur = 0, tdur = 0 } of events) {
    // Calls contain calls.
    if (ph !== 'X' || !SCRIPT_EVENTS.has(name) || ts < countedUntil) continue;
    countedUntil = ts + dur;
    while (slot < sums.length - 1 && times[slot + 1]! <= ts) slot++;
    if (ts >= times[0]! && ts < times.at(-1)!) sums[slot]! += tdur / 1000;
  }
  return sums;
}

/** Tab of a browser profile of its own. */
export class Tab {
  private constructor(
    readonly page: Page,
    readonly cdp: CDPSession,
    private readonly context: BrowserContext,
  ) {}

  static async in(context: BrowserContext): Promise<Tab> {
    const page = await context.newPage();
    const cdp = await context.newCDPSession(page);
    // CPU time, which other programs of the machine do not change.
    await cdp.send('Performance.enable', { timeDomain: 'threadTicks' });
    return new Tab(page, cdp, context);
  }

  /** Second page of the same profile, with its caches. */
  async next(): Promise<Tab> {
    return Tab.in(this.context);
  }

  /** Waits for the first message and returns the milliseconds since the navigation began. */
  async firstMessage(): Promise<number> {
    const handle = await this.page.waitForFunction(() => window.firstMessageMs, null, { timeout: 300_000 });
    return handle.jsonValue();
  }

  /** Seconds of CPU that the main thread has spent on a kind of work since its start. */
  async seconds(metric: 'ScriptDuration' | 'TaskDuration'): Promise<number> {
    const { metrics } = await this.cdp.send('Performance.getMetrics');
    return metrics.find(({ name }) => name === metric)!.value;
  }

  /** Bytes of the heap after a collection. */
  async heapBytes(): Promise<number> {
    for (let n = 0; n < 3; n++) await this.cdp.send('HeapProfiler.collectGarbage');
    return (await this.cdp.send('Runtime.getHeapUsage')).usedSize;
  }

  async setOffline(isOffline: boolean): Promise<void> {
    await this.context.setOffline(isOffline);
  }

  /** Longest task since the last call; 0 if none took 50 ms. */
  longestTask(): Promise<number> {
    return this.page.evaluate(() => Math.max(0, ...window.longTasks.splice(0)));
  }

  async close(): Promise<void> {
    await this.context.close();
  }
}
