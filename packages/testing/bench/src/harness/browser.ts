import { CHROMIUM, CHROMIUM_FLAGS } from '@parley/testkit';
import { type Browser, type BrowserContext, type CDPSession, chromium, type Page } from 'playwright-core';

/** Account with a password in the opened organization. */
export interface BrowserUser {
  readonly email: string;
  readonly password: string;
}

/** Cookies of a logged-in person. */
type Session = Awaited<ReturnType<BrowserContext['storageState']>>;

declare global {
  interface Window {
    /** Milliseconds from the start of the navigation until the first message was visible; 0 before that. */
    firstMessageMs: number;
    longTasks: number[];
    /** Times from keystrokes to the next paint. */
    keyMs: number[];
    /** Event responses received by the page. */
    answers: string[];
  }
}

/** Sets marks in every page before its scripts run. */
function observe(): void {
  window.firstMessageMs = 0;
  window.longTasks = [];
  window.keyMs = [];
  const look = () => {
    if (document.querySelector('[data-messages] article') === null) requestAnimationFrame(look);
    // The message is painted one frame later.
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

/** Headless Chromium with one user's session. */
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

  /**
   * Opens a page in a new browser profile with an empty cache. `hasPolicy` is false for pages with scripts from the
   * benchmark.
   */
  async open({ hasPolicy = true } = {}): Promise<Tab> {
    const context = await this.browser.newContext({
      storageState: this.session,
      bypassCSP: !hasPolicy,
      viewport: { width: 1280, height: 800 },
    });
    await context.addInitScript(observe);
    return Tab.in(context);
  }

  /** Traces the page's main thread. */
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
  /** CPU time of the thread, which is unaffected by other programs. */
  readonly tdur?: number;
  readonly args?: { readonly name?: string; readonly data?: { readonly type?: string } };
}

const SCRIPT_EVENTS = new Set(['FunctionCall', 'RunMicrotasks', 'EvaluateScript', 'v8.callFunction', 'TimerFire']);

/** CPU milliseconds of scripts that started between each pair of consecutive times of a trace. */
export function scriptBetween(events: readonly TraceEvent[], times: readonly number[]): readonly number[] {
  const sums = times.slice(1).map(() => 0);
  let slot = 0;
  let countedUntil = 0;
  for (const { name, ph, ts, dur = 0, tdur = 0 } of events) {
    // Nested calls are counted once.
    if (ph !== 'X' || !SCRIPT_EVENTS.has(name) || ts < countedUntil) continue;
    countedUntil = ts + dur;
    while (slot < sums.length - 1 && times[slot + 1]! <= ts) slot++;
    if (ts >= times[0]! && ts < times.at(-1)!) sums[slot]! += tdur / 1000;
  }
  return sums;
}

/** Tab with a separate browser profile. */
export class Tab {
  private constructor(
    readonly page: Page,
    readonly cdp: CDPSession,
    private readonly context: BrowserContext,
  ) {}

  static async in(context: BrowserContext): Promise<Tab> {
    const page = await context.newPage();
    const cdp = await context.newCDPSession(page);
    // The window's toolbar would cover the lower end of the page, and changes there would not be painted.
    const { windowId } = await cdp.send('Browser.getWindowForTarget');
    await cdp.send('Browser.setWindowBounds', { windowId, bounds: { width: 1280, height: 1000 } });
    // CPU time is unaffected by other programs.
    await cdp.send('Performance.enable', { timeDomain: 'threadTicks' });
    return new Tab(page, cdp, context);
  }

  /** Opens a second page in the same profile, with its caches. */
  async next(): Promise<Tab> {
    return Tab.in(this.context);
  }

  /** Waits for the first message and returns the milliseconds since the navigation began. */
  async firstMessage(): Promise<number> {
    const handle = await this.page.waitForFunction(() => window.firstMessageMs, null, { timeout: 300_000 });
    return handle.jsonValue();
  }

  /** CPU seconds that the main thread has spent on a kind of work since its start. */
  async seconds(metric: 'ScriptDuration' | 'TaskDuration'): Promise<number> {
    const { metrics } = await this.cdp.send('Performance.getMetrics');
    return metrics.find(({ name }) => name === metric)!.value;
  }

  /** Heap size in bytes after garbage collection. */
  async heapBytes(): Promise<number> {
    for (let n = 0; n < 3; n++) await this.cdp.send('HeapProfiler.collectGarbage');
    return (await this.cdp.send('Runtime.getHeapUsage')).usedSize;
  }

  async setOffline(isOffline: boolean): Promise<void> {
    await this.context.setOffline(isOffline);
  }

  /** Longest task since the last call in milliseconds; 0 if none took 50 ms. */
  longestTask(): Promise<number> {
    return this.page.evaluate(() => Math.max(0, ...window.longTasks.splice(0)));
  }

  async close(): Promise<void> {
    await this.context.close();
  }
}
