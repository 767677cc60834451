import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GroupId, UserId } from '@parley/domain/kernel';
import { NOTHING_NAMED } from '@parley/domain/markdown';
import { AnomalousPayload, INTEGRATIONS, Payload } from '@parley/http';
import { ZulipMarkdownRenderer } from '@parley/markdown';
import { MARKDOWN_OPTIONS } from '@parley/testkit';

interface Recorded {
  readonly title: string;
  readonly header?: string;
  readonly payload: unknown;
  readonly error?: string;
}

const folder = join(__dirname, '../../../../adapters/http/src/integrations/fixtures');
const recordingsOf = (name: string): readonly Recorded[] =>
  (JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8')) as Recorded[]).filter(
    ({ payload }) => typeof payload === 'object' && payload !== null,
  );

type Json = unknown;
const REMOVED = Symbol('removed');

/** Returns copies of the payload with each member and element in turn replaced by each result of `replace`. */
function* variantsOf(value: Json, replace: (member: Json) => readonly Json[]): Generator<Json> {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, member] of Object.entries(value)) {
    for (const replacement of [...replace(member), ...variantsOf(member, replace)]) {
      if (Array.isArray(value)) {
        const index = Number(key);
        yield replacement === REMOVED ? value.toSpliced(index, 1) : value.with(index, replacement);
      } else {
        const { [key]: _, ...others } = value as Record<string, Json>;
        yield replacement === REMOVED ? others : { ...value, [key]: replacement };
      }
    }
  }
}

interface Outcome {
  readonly text: string;
  readonly topic: string;
}

/** Returns the message, `silent` for no message, or `refused`: the sender gets an error and the owner a notice. */
function resultOf(
  integration: (typeof INTEGRATIONS)[number],
  payload: Json,
  header = '',
): Outcome | 'silent' | 'refused' {
  const read = new Payload(payload);
  try {
    const event = integration.eventOf(read, header);
    if (integration.ignored?.includes(event) || integration.isExcluded?.(read, {})) return 'silent';
    const template = Object.hasOwn(integration.events, event) ? integration.events[event]! : null;
    if (template === null) return 'refused';
    const [text, topic] = [template.text(read, {}), template.topic(read, {})];
    template.branch?.(read);
    return text === null ? 'silent' : { text, topic };
  } catch (error) {
    if (error instanceof AnomalousPayload) return 'refused';
    throw new Error(`Failed on ${JSON.stringify(payload)}`, { cause: error });
  }
}

function outcomeOf(...args: Parameters<typeof resultOf>): Outcome | null {
  const result = resultOf(...args);
  return typeof result === 'string' ? null : result;
}

const ODD_VALUES: readonly Json[] = [REMOVED, null, '', 42, true, {}, [], { nested: { value: null } }, [null]];
const HOSTILE = 'x @**all** @**King Hamlet** @_**King Hamlet** @*support* `';

const renderer = new ZulipMarkdownRenderer();
afterAll(() => renderer.close());
const NAMES = {
  ...NOTHING_NAMED,
  usersByName: new Map([['King Hamlet', { id: 10 as UserId, fullName: 'King Hamlet', isActive: true }]]),
  groupsByName: new Map([['support', { id: 20 as GroupId, displayName: 'support', isActive: true }]]),
};

it('recognizes the mentions that the tests look for', async () => {
  const rendered = renderer.render(await renderer.parse(HOSTILE, MARKDOWN_OPTIONS), NAMES);
  expect(rendered).toMatchObject({
    mentionedUserIds: new Set([10]),
    mentionedGroupIds: new Set([20]),
    mentionsChannelWildcard: true,
  });
});

const named = (integrations: typeof INTEGRATIONS) => integrations.map((each) => [each.name, each] as const);
const PLACEHOLDER = /undefined|\[object|null|NaN/;

// Two integrations show odd members as JSON; `card-laws` and `hostile-cards` test those of Slack.
it.each(named(INTEGRATIONS.filter(({ name }) => !['json', 'slack_incoming'].includes(name))))(
  '%s posts no placeholder for a missing or odd member of a payload',
  (name, integration) => {
    let posted = 0;
    for (const { payload, header } of recordingsOf(name)) {
      // Titles may contain such a word.
      const isClean = !PLACEHOLDER.test(outcomeOf(integration, payload, header)?.text ?? '');
      for (const variant of variantsOf(payload, () => ODD_VALUES)) {
        const outcome = outcomeOf(integration, variant, header);
        if (outcome === null) continue;
        const shown = `${outcome.topic}\n${outcome.text}`;
        if (isClean && PLACEHOLDER.test(shown)) throw new Error(`${shown}\n${JSON.stringify(variant)}`);
        posted++;
      }
    }
    expect(posted).toBeGreaterThan(0);
  },
);

it.each(named(INTEGRATIONS))('%s notifies nobody whom a text of the payload mentions', async (name, integration) => {
  const texts = new Set<string>();
  const topics = new Set<string>();
  for (const { payload, header } of recordingsOf(name)) {
    const hostile = (member: Json) =>
      typeof member === 'string' ? [HOSTILE, `${member} ${HOSTILE}`, `/me ${member}`] : [];
    for (const variant of variantsOf(payload, hostile)) {
      const outcome = outcomeOf(integration, variant, header);
      if (outcome === null) continue;
      texts.add(outcome.text);
      topics.add(outcome.topic);
    }
  }
  // Topics are plain text, so entities would be visible.
  expect([...topics].filter((topic) => /&(?:#\d+|amp|lt);/.test(topic))).toEqual([]);
  for (const text of texts) {
    const rendered = renderer.render(await renderer.parse(text, MARKDOWN_OPTIONS), NAMES);
    const mentioned = rendered.mentionedUserIds.size + rendered.mentionedGroupIds.size;
    if (mentioned > 0 || rendered.mentionsChannelWildcard || rendered.mentionsTopicWildcard || text.startsWith('/')) {
      throw new Error(`Notifies: ${text}`);
    }
  }
  expect(texts.size).toBeGreaterThan(0);
});

const MARK = 'Mark7';
const NUMBER = 77_345_177;
/** Other types in which services send a text, each with the text that is shown. */
const STRUCTURED: readonly (readonly [value: Json, shown: string])[] = [
  [{ type: 'doc', version: 1, content: [{ type: 'paragraph', content: [{ type: 'text', text: MARK }] }] }, MARK],
  [{ t: MARK }, MARK],
  [[MARK], MARK],
  [[{ t: MARK }], MARK],
  [NUMBER, String(NUMBER)],
];

it.each(named(INTEGRATIONS))('%s shows or refuses a text of another type', (name, integration) => {
  let shownTexts = 0;
  for (const { payload, header } of recordingsOf(name)) {
    const shows = (variant: Json, shown: string): boolean => {
      const result = resultOf(integration, variant, header);
      return typeof result === 'object' && `${result.topic}\n${result.text}`.includes(shown);
    };
    const variants = (value: Json): readonly Json[] => [
      ...variantsOf(payload, (member) => (typeof member === 'string' ? [value] : [])),
    ];
    const shown = variants(MARK).map((variant) => shows(variant, MARK));
    shownTexts += shown.filter(Boolean).length;
    for (const [value, text] of STRUCTURED) {
      variants(value).forEach((variant, index) => {
        if (!shown[index] || resultOf(integration, variant, header) === 'refused' || shows(variant, text)) return;
        throw new Error(`Loses ${JSON.stringify(value)} in ${JSON.stringify(variant)}`);
      });
    }
    // A missing text may be left out.
    for (const variant of variants(null)) resultOf(integration, variant, header);
  }
  expect(shownTexts).toBeGreaterThan(0);
});
