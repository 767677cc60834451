import type { Locator } from 'playwright-core';
import { ApiUser } from '../harness/api.js';
import { scriptBetween, type Tab, type TraceEvent } from '../harness/browser.js';
import { interleave, median } from '../harness/interleave.js';
import { formatNumber, ratioOf } from '../harness/table.js';
import type { Figure, Goal } from '../workload.js';
import { sendMessage, sendMessages, topicHash, type WebScene } from './web-start.js';

const MB = 1_000_000;
const FRAME_MS = 1000 / 60;
/** A single parse of some milliseconds varies too much. */
const PARSED_TIMES = 10;

/** Use of an open page: reading, writing and a day of messages. */
export async function measureUse(scene: WebScene): Promise<readonly Figure[]> {
  const writer = await ApiUser.signIn(scene.server, scene.contents.writer.email);
  return [
    ...(await switching(scene)),
    ...(await missedEvents(scene, writer)),
    await idle(scene),
    ...(await peopleLists(scene)),
    ...(await threeDays(scene, writer)),
  ];
}

const line = (label: string, value: number, unit: string, goal: Goal | null, limit = ''): Figure => ({
  ...{ label, ours: `${formatNumber(value)} ${unit}`, limit, value, goal },
});

const inMs = (label: string, value: number, atMost: number): Figure => line(label, value, 'ms', { atMost, unit: 'ms' });

/** Value below which a given share of the values lies. */
function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

async function opened(scene: WebScene, topic: string): Promise<Tab> {
  const tab = await scene.browser.open();
  await tab.page.goto(`${scene.browser.url}/${topicHash(scene, topic)}`);
  await tab.firstMessage();
  // Counts, people and the cache are updated later.
  await tab.page.waitForTimeout(3000);
  return tab;
}

/** Milliseconds until messages of another conversation are visible. */
function switchTo(tab: Tab, hash: string): Promise<number> {
  return tab.page.evaluate((to) => {
    const former = document.querySelector('[data-messages] article');
    const startedAt = performance.now();
    location.hash = to;
    return new Promise<number>((resolve, reject) => {
      setTimeout(() => reject(new Error(`No message of ${to} was shown`)), 30_000);
      const look = () => {
        const first = document.querySelector('[data-messages] article');
        if (first === null || first === former) requestAnimationFrame(look);
        else requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - startedAt)));
      };
      requestAnimationFrame(look);
    });
  }, hash);
}

async function switching(scene: WebScene): Promise<readonly Figure[]> {
  const { topics } = scene.contents;
  const tab = await opened(scene, topics[0]!);
  const empty = await scene.browser.open({ hasPolicy: false });
  await empty.page.goto(`${scene.browser.url}/web/service-worker.js`);
  let next = 1;
  const memory: number[] = [];
  const rounds = await interleave(scene.lab.rounds, {
    other: async () => {
      const ms = await switchTo(tab, topicHash(scene, topics[next++ % topics.length]!));
      memory.push(await switchTo(tab, topicHash(scene, topics[0]!)));
      return ms;
    },
    empty: () => showInEmptyPage(scene, empty, topics[next++ % topics.length]!),
  });
  await tab.close();
  await empty.close();
  return [
    inMs('switching to a conversation in memory', median(memory), 100),
    {
      label: 'switching to another conversation ÷ an empty page that fetches and shows its messages',
      ...ratioOf(rounds.other, rounds.empty, ' ms'),
      goal: { atMost: 2.5 },
    },
  ];
}

/** Milliseconds until the messages of a topic, as plain HTML, are visible. They wait for the same frames as a switch. */
function showInEmptyPage({ contents: { busy } }: WebScene, { page }: Tab, topic: string): Promise<number> {
  return page.evaluate(
    async ([channel, name]) => {
      const narrow = JSON.stringify([
        { operator: 'channel', operand: channel },
        { operator: 'topic', operand: name },
      ]);
      const params = { narrow, anchor: 'first_unread', num_before: '30', num_after: '30', apply_markdown: 'true' };
      const startedAt = performance.now();
      const response = await fetch(`/json/messages?${new URLSearchParams(params)}`);
      const { messages } = (await response.json()) as { messages: readonly { readonly content: string }[] };
      document.body.innerHTML = messages.map(({ content }) => `<article>${content}</article>`).join('');
      const nextFrame = () => new Promise((resolve) => requestAnimationFrame(resolve));
      await nextFrame();
      await nextFrame();
      await new Promise((resolve) => setTimeout(resolve));
      return performance.now() - startedAt;
    },
    [busy, topic] as const,
  );
}

/** Reconnection after thousands of missed messages. */
async function missedEvents(scene: WebScene, writer: ApiUser): Promise<readonly Figure[]> {
  const missed = scene.lab.size(5000, 50);
  const topic = scene.contents.topics[2]!;
  const tab = await opened(scene, scene.contents.topics[0]!);
  const script: number[] = [];
  const parse: number[] = [];
  const ratios: number[] = [];
  const longest: number[] = [];
  for (let round = 0; round < Math.min(scene.lab.rounds, 3); round++) {
    const answers: string[] = [];
    const onResponse = (response: { url(): string; text(): Promise<string> }) => {
      if (response.url().includes('/events?'))
        void response.text().then(
          (text) => answers.push(text),
          () => {},
        );
    };
    await tab.setOffline(true);
    await sendMessages(scene, writer, missed, topic);
    const marker = `the last one of round ${round}`;
    await sendMessage(scene.contents, writer, scene.contents.topics[0]!, marker);
    tab.page.on('response', onResponse);
    await tab.longestTask();
    const before = await tab.seconds('ScriptDuration');
    await tab.setOffline(false);
    await tab.page.waitForFunction((text) => document.body.textContent.includes(text), marker, {
      timeout: 120_000,
      polling: 100,
    });
    await tab.page.waitForTimeout(1000);
    script.push(((await tab.seconds('ScriptDuration')) - before) * 1000);
    longest.push(await tab.longestTask());
    tab.page.off('response', onResponse);
    await tab.page.evaluate((texts) => {
      window.answers = texts;
    }, answers);
    const beforeParsing = await tab.seconds('TaskDuration');
    await tab.page.evaluate((times) => {
      for (let n = 0; n < times; n++) for (const text of window.answers) JSON.parse(text);
      window.answers = [];
    }, PARSED_TIMES);
    parse.push((((await tab.seconds('TaskDuration')) - beforeParsing) * 1000) / PARSED_TIMES);
    ratios.push(script.at(-1)! / parse.at(-1)!);
  }
  await tab.close();
  return [
    {
      label: `${formatNumber(missed)} missed messages, script ÷ parsing their JSON`,
      ours: `${formatNumber(median(script))} ms`,
      limit: `${formatNumber(median(parse))} ms`,
      value: median(ratios),
      goal: { atMost: 4 },
    },
    inMs('longest task during that (0: below 50 ms)', median(longest), 50),
  ];
}

async function idle(scene: WebScene): Promise<Figure> {
  const tab = await opened(scene, scene.contents.topics[0]!);
  const seconds = scene.lab.size(60, 1);
  await tab.page.waitForTimeout(scene.lab.size(10_000, 0));
  const before = await tab.seconds('TaskDuration');
  await tab.page.waitForTimeout(seconds * 1000);
  const used = (await tab.seconds('TaskDuration')) - before;
  await tab.close();
  return line('share of a core that an idle page uses', (used / seconds) * 100, '%', { atMost: 0.2, unit: '%' });
}

/** Lists of all people: opening them and each keystroke of their search. */
async function peopleLists(scene: WebScene): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  const tab = await opened(scene, scene.contents.topics[0]!);
  const { page } = tab;
  for (const [name, open] of [
    ['the people panel', () => page.getByRole('button', { name: 'People', exact: true }).click()],
    ['the user list page', () => page.evaluate(() => location.assign('#organization/users'))],
  ] as const) {
    await tab.longestTask();
    await open();
    // A label search in thousands of elements would be the longest task.
    const search = page.locator('input[aria-label="Search people"]').last();
    await search.waitFor({ timeout: 60_000 });
    await page.waitForTimeout(500);
    figures.push(inMs(`opening ${name}: longest task (0: below 50 ms)`, await tab.longestTask(), 50));
    await search.pressSequentially('number 77', { delay: 100 });
    await page.waitForTimeout(500);
    figures.push(inMs(`searching in ${name}: longest task (0: below 50 ms)`, await tab.longestTask(), 50));
    await page
      .getByRole('button', { name: 'People', exact: true })
      .and(page.locator('[aria-pressed=true]'))
      .click({ timeout: 1000 })
      .catch(() => {});
  }
  await tab.close();
  return figures;
}

/** Three days of messages in the open conversation. Keystrokes and scrolling are measured after two days. */
async function threeDays(scene: WebScene, writer: ApiUser): Promise<readonly Figure[]> {
  const { lab } = scene;
  const day = lab.size(50_000, 100);
  const topic = 'the day';
  await sendMessage(scene.contents, writer, topic);
  const tab = await opened(scene, topic);
  const live = async (marker: string) => {
    await sendMessages(scene, writer, day, topic);
    await sendMessage(scene.contents, writer, topic, marker);
    await tab.page.waitForFunction((text) => document.body.textContent.includes(text), marker, {
      timeout: 300_000,
      polling: 200,
    });
    await tab.page.waitForTimeout(2000);
  };
  await live('first day');
  const first = await tab.heapBytes();
  await live('second day');
  const keys = await typing(scene, tab, writer, topic);
  const scroll = await scrolling(scene, tab);
  const movement = await movementOfLine(scene, tab, writer, topic);
  await tab.page
    .getByRole('button', { name: 'Newest message' })
    .click({ timeout: 5000 })
    .catch(() => {});
  await live('third day');
  const third = await tab.heapBytes();
  await tab.close();
  const messages = formatNumber(day);
  return [
    line(`heap after ${messages} messages among 10 000 people`, first / MB, 'MB', { atMost: 100, unit: 'MB' }),
    line(
      'heap after three such days ÷ after the first',
      third / MB,
      'MB',
      { atMost: 1.05 },
      `${formatNumber(first / MB)} MB`,
    ),
    ...keys,
    ...scroll,
    movement,
  ].map((figure) => (figure.label.includes('÷ after the first') ? { ...figure, value: third / first } : figure));
}

const startsOf = (events: readonly TraceEvent[], isStart: (event: TraceEvent) => boolean): readonly number[] =>
  events.filter(isStart).map(({ ts }) => ts);

async function typing(
  { lab, browser, ...scene }: WebScene,
  tab: Tab,
  writer: ApiUser,
  topic: string,
): Promise<readonly Figure[]> {
  const keys = lab.size(200, 10);
  const field = tab.page.getByRole('textbox', { name: 'Message' });
  const text = 'the quick brown fox jumps over the lazy dog and writes about it '.repeat(4).slice(0, keys);
  const plain = await plainPage(browser);
  const painted: number[] = [];
  const limit: number[] = [];
  for (let round = 0; round < Math.min(lab.rounds, 3); round++) {
    limit.push(await withArrivingLines(plain, keys, () => typeIn(plain.page.getByRole('textbox'), text)));
    // Ten events per second.
    const others = setInterval(() => void sendMessage(scene.contents, writer, topic), 100);
    painted.push(await framesPerKey(tab, keys, () => typeIn(field, text)));
    clearInterval(others);
    await field.fill('');
  }
  await plain.close();
  // Excludes scripts of arriving messages from those of keystrokes.
  await tab.page.waitForTimeout(2000);
  const script = await scriptPerKey(browser, tab, () => typeIn(field, text));
  await field.fill('');
  return [
    line(
      'typing to paint, p95, 100 000 messages, ten a second arrive, in frames of 60 Hz',
      median(painted),
      'frames',
      { atMost: 2 },
      `${formatNumber(median(limit))} frames`,
    ),
    inMs('script per typed key, p95, CPU', quantile(script, 0.95), 4),
    ...(await movingCursor({ lab, browser }, tab)),
  ];
}

async function typeIn(field: Locator, text: string): Promise<void> {
  await field.focus();
  await field.pressSequentially(text, { delay: 50 });
}

/** Keys that move the cursor up, in a list that is at rest. */
async function movingCursor({ lab, browser }: Pick<WebScene, 'lab' | 'browser'>, tab: Tab): Promise<readonly Figure[]> {
  const keys = lab.size(100, 10);
  const move = async () => {
    for (let n = 0; n < keys; n++) await tab.page.keyboard.press('ArrowUp', { delay: 50 });
  };
  await tab.page.locator('[data-messages]').focus();
  const painted = await framesPerKey(tab, keys, move);
  const script = await scriptPerKey(browser, tab, move);
  return [
    line('key that moves the cursor to paint, p95, in frames of 60 Hz', painted, 'frames', { atMost: 2 }),
    inMs('script per key that moves the cursor, p95, CPU', quantile(script, 0.95), 4),
  ];
}

/** Page without an application: a field and a list. */
async function plainPage(browser: WebScene['browser']): Promise<Tab> {
  const tab = await browser.open();
  await tab.page.setContent('<div style="height: 700px; overflow: auto"></div><textarea rows="3"></textarea>');
  return tab;
}

/** Frames per key of the plain page while ten lines a second are appended to its list. */
async function withArrivingLines(plain: Tab, keys: number, press: () => Promise<void>): Promise<number> {
  const timer = await plain.page.evaluate(() => {
    const list = document.querySelector('div')!;
    return window.setInterval(() => {
      list.append(Object.assign(document.createElement('p'), { textContent: 'Lunch is at noon.' }));
      list.scrollTop = list.scrollHeight;
    }, 100);
  });
  const frames = await framesPerKey(plain, keys, press);
  await plain.page.evaluate((id) => window.clearInterval(id), timer);
  return frames;
}

/** Frames from a keystroke to the next paint, p95. */
async function framesPerKey({ page }: Tab, keys: number, press: () => Promise<void>): Promise<number> {
  await page.evaluate(() => window.keyMs.splice(0));
  await press();
  await page.waitForTimeout(300);
  const late = await page.evaluate(() => window.keyMs.splice(0));
  // The browser does not report shorter times.
  const all = [...late, ...Array.from({ length: Math.max(0, keys - late.length) }, () => FRAME_MS)];
  return quantile(all, 0.95) / FRAME_MS;
}

async function scriptPerKey(
  browser: WebScene['browser'],
  tab: Tab,
  press: () => Promise<void>,
): Promise<readonly number[]> {
  const trace = await browser.trace(tab, press);
  const isKey = ({ name, args }: TraceEvent) => name === 'EventDispatch' && args?.data?.type === 'keydown';
  return scriptBetween(trace, startsOf(trace, isKey));
}

async function scrolling({ lab, browser }: WebScene, tab: Tab): Promise<readonly Figure[]> {
  const box = (await tab.page.locator('[data-messages]').boundingBox())!;
  await tab.page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  const turns = lab.size(400, 10);
  const trace = await browser.trace(tab, async () => {
    for (let n = 0; n < turns; n++) {
      await tab.page.mouse.wheel(0, n % 100 < 80 ? -600 : 600);
      await tab.page.waitForTimeout(16);
    }
    await tab.page.waitForTimeout(500);
  });
  const frames = startsOf(trace, ({ name, ph }) => name === 'AnimationFrame::Render' && ph === 'b');
  const late = frames.slice(1).filter((ts, n) => ts - frames[n]! > 25_000).length;
  return [
    inMs('scrolling: script per frame, p95, CPU', quantile(scriptBetween(trace, frames), 0.95), 8),
    line(
      'scrolling: share of frames that came later than 25 ms after the last',
      (late / frames.length) * 100,
      '%',
      null,
    ),
  ];
}

/** Movement of a message in the middle of the screen while messages arrive and older messages load. */
async function movementOfLine(scene: WebScene, tab: Tab, writer: ApiUser, topic: string): Promise<Figure> {
  const top = () =>
    tab.page.evaluate(() => {
      const frame = document.querySelector('[data-messages]')!.getBoundingClientRect();
      const rows = [...document.querySelectorAll<HTMLElement>('[data-messages] [data-key]')];
      const row = rows.find((each) => each.getBoundingClientRect().top > frame.top + frame.height / 2);
      return { key: row?.dataset.key ?? '', top: row?.getBoundingClientRect().top ?? 0 };
    });
  const topOf = (key: string) =>
    tab.page.evaluate(
      (wanted) => document.querySelector(`[data-key="${wanted}"]`)?.getBoundingClientRect().top ?? Number.NaN,
      key,
    );
  await tab.page.mouse.wheel(0, -3000);
  await tab.page.waitForTimeout(1000);
  let moved = 0;
  for (let round = 0; round < scene.lab.rounds; round++) {
    const { key, top: before } = await top();
    for (let n = 0; n < 20; n++) await sendMessage(scene.contents, writer, topic);
    await tab.page.waitForTimeout(300);
    moved = Math.max(moved, Math.abs((await topOf(key)) - before));
  }
  return line('movement of the line that is read while messages arrive', moved, 'px', { atMost: 1, unit: 'px' });
}
