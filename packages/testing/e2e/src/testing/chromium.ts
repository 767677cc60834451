import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { within } from './pause.js';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];
const PATIENCE_MS = 60_000;

// biome-ignore lint/suspicious/noExplicitAny: browser responses, checked by assertions.
type Answer = any;

/** Returns the browser's command; null if none is installed. */
export const findChromium = (): string | null =>
  NAMES.find((name) => spawnSync(name, ['--version'], { stdio: 'ignore' }).status === 0) ?? null;

export interface ChromiumOptions {
  /** True if pages may run scripts. `evaluate` always works. */
  readonly runsScripts?: boolean;
  /** Added to the command line. */
  readonly args?: readonly string[];
}

/** One page of a headless browser. `close` it after the test. */
export class Chromium {
  /** Console output of the browser, such as blocked resources and script errors. */
  readonly complaints: string[] = [];
  private readonly waiting = new Map<number, (message: Answer) => void>();
  private readonly loads: (() => void)[] = [];
  private sent = 0;
  private session: string | undefined;

  private constructor(
    private readonly child: ChildProcess,
    private readonly profile: string,
  ) {
    let received = '';
    (child.stdio[4] as Readable).setEncoding('utf8').on('data', (chunk: string) => {
      const messages = (received + chunk).split('\0');
      received = messages.pop()!;
      for (const message of messages) this.take(JSON.parse(message));
    });
  }

  static async start(command: string, { runsScripts = false, args = [] }: ChromiumOptions = {}): Promise<Chromium> {
    const profile = mkdtempSync(join(tmpdir(), 'parley-chromium-'));
    const options = ['--headless=new', '--no-sandbox', '--disable-gpu', '--remote-debugging-pipe'];
    const child = spawn(command, [...options, ...args, `--user-data-dir=${profile}`], {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
      // Separate process group, so that all its processes end together.
      detached: true,
    });
    const browser = new Chromium(child, profile);
    const { targetId } = await browser.call('Target.createTarget', { url: 'about:blank' });
    browser.session = (await browser.call('Target.attachToTarget', { targetId, flatten: true })).sessionId;
    await browser.call('Page.enable');
    await browser.call('Log.enable');
    await browser.call('Runtime.enable');
    await browser.call('Emulation.setScriptExecutionDisabled', { value: !runsScripts });
    return browser;
  }

  async open(url: string): Promise<void> {
    await this.loading(() => this.call('Page.navigate', { url }));
  }

  /** Clicks a link or button with this text and waits for the next page. */
  async follow(text: string): Promise<void> {
    await this.loading(() =>
      this.evaluate(
        `[...document.querySelectorAll('a, button')].find((it) => it.textContent === ${JSON.stringify(text)}).click()`,
      ),
    );
  }

  /** Fills the field with this label. */
  async fill(label: string, value: string): Promise<void> {
    await this.evaluate(
      `[...document.querySelectorAll('label')].find((it) => it.textContent === ${JSON.stringify(label)}).control.focus()`,
    );
    await this.evaluate('document.activeElement.select()');
    await this.call('Input.insertText', { text: value });
  }

  /** Visible text. */
  text(): Promise<string> {
    return this.evaluate('document.body.innerText');
  }

  /** Evaluates an expression and awaits a promise. */
  async evaluate(expression: string): Promise<Answer> {
    const params = { expression, returnByValue: true, awaitPromise: true };
    const { result, exceptionDetails } = await this.call('Runtime.evaluate', params);
    if (exceptionDetails) throw new Error(`${expression}: ${exceptionDetails.exception?.description}`);
    return result.value;
  }

  /** Role and name of each element in the accessibility tree. */
  async accessibleNames(roles: readonly string[]): Promise<readonly (readonly [role: string, name: string])[]> {
    const { nodes } = await this.call('Accessibility.getFullAXTree');
    return (nodes as Answer[])
      .filter(({ ignored, role }) => !ignored && roles.includes(role?.value))
      .map(({ role, name }) => [role.value, name?.value ?? '']);
  }

  async close(): Promise<void> {
    const gone = once(this.child, 'close');
    process.kill(-this.child.pid!, 'SIGKILL');
    await gone;
    // Exiting processes may still write to the folder.
    rmSync(this.profile, { recursive: true, force: true, maxRetries: 20 });
  }

  private async loading(start: () => Promise<unknown>): Promise<void> {
    const loaded = new Promise<void>((resolve) => this.loads.push(resolve));
    await start();
    await this.patiently('a page', loaded);
  }

  private async call(method: string, params: object = {}): Promise<Answer> {
    const id = ++this.sent;
    const answered = new Promise<Answer>((resolve) => this.waiting.set(id, resolve));
    const message = { id, method, params, ...(this.session !== undefined && { sessionId: this.session }) };
    (this.child.stdio[3] as Writable).write(`${JSON.stringify(message)}\0`);
    const { result, error } = await this.patiently(method, answered);
    if (error) throw new Error(`${method}: ${error.message}`);
    return result;
  }

  private async patiently<T>(what: string, promise: Promise<T>): Promise<T> {
    const done = await within(
      PATIENCE_MS,
      promise.then((value) => ({ value })),
    );
    if (!done) throw new Error(`The browser does not answer: ${what}`);
    return done.value;
  }

  private take(message: Answer): void {
    this.waiting.get(message.id)?.(message);
    this.waiting.delete(message.id);
    if (message.method === 'Page.loadEventFired') for (const loaded of this.loads.splice(0)) loaded();
    const complaint = complaintOf(message);
    if (complaint !== null) this.complaints.push(complaint);
  }
}

function complaintOf({ method, params }: Answer): string | null {
  if (method === 'Log.entryAdded') return params.entry.text;
  if (method === 'Runtime.exceptionThrown') return params.exceptionDetails.exception?.description ?? '?';
  if (method !== 'Runtime.consoleAPICalled' || !['error', 'warning'].includes(params.type)) return null;
  return params.args.map(({ value, description }: Answer) => value ?? description).join(' ');
}
