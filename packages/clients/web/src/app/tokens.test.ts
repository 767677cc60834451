import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const SRC = join(import.meta.dirname, '..');
const css = readFileSync(join(SRC, 'app/tokens.css'), 'utf8');
const page = readFileSync(join(SRC, '../../../../docs/embedding-ui.md'), 'utf8');

const filesOf = (extension: string): string =>
  readdirSync(SRC, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(extension))
    .map((name) => readFileSync(join(SRC, name), 'utf8'))
    .join('\n');
const allCss = filesOf('.css');

/** Custom properties declared by the rules of one selector. */
function declared(selector: string): ReadonlyMap<string, string> {
  const start = css.indexOf(`${selector} {`);
  if (start < 0) throw new Error(`tokens.css has no rule for ${selector}`);
  const body = css.slice(start, css.indexOf('}', start));
  return new Map([...body.matchAll(/(--parley-[\w-]+): ([^;]+);/g)].map(([, name, value]) => [name!, value!]));
}

const usual = declared(':host');
const contrast = declared('[data-theme~="high-contrast"]');

/** Properties that default to another property. */
const following = new Map(
  [...allCss.matchAll(/var\((--parley-[\w-]+), var\((--parley-[\w-]+)\)\)/g)].map(([, name, other]) => [name!, other!]),
);

/** Rows of the page's tables that begin with a code name. */
const rowsOf = (start: RegExp): readonly (readonly string[])[] =>
  page
    .split('\n')
    .filter((line) => start.test(line))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim().replaceAll('`', '')),
    );

const inScheme = (value: string, scheme: 'light' | 'dark'): string => {
  const [, light, dark] = /^light-dark\((\S+), (\S+)\)$/.exec(value) ?? [];
  return (scheme === 'light' ? light : dark) ?? value;
};

/** Relative luminance (WCAG 2.2). */
function luminance(color: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function ratioOf(text: string, background: string): number {
  const [dark, light] = [luminance(text), luminance(background)].sort((a, b) => a - b) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

const TEXTS: readonly (readonly [text: string, background: string])[] = [
  ...['text', 'text-muted', 'link', 'danger', 'success', 'accent', 'unread-line'].map(
    (name) => [name, 'background'] as const,
  ),
  ...['keyword', 'string', 'number', 'comment', 'name', 'inserted', 'deleted'].map(
    (name) => [`token-${name}`, 'code-background'] as const,
  ),
  ...['text', 'text-muted', 'link', 'danger', 'success', 'unread-line'].map((name) => [name, 'surface'] as const),
  ...['text', 'text-muted', 'link', 'danger', 'success'].map((name) => [name, 'surface-raised'] as const),
  ...['text', 'text-muted', 'danger'].map((name) => [name, 'hover'] as const),
  ...['text', 'text-muted'].map((name) => [name, 'selected'] as const),
  ['text', 'warning-background'],
  ['text', 'danger-background'],
  ['text', 'code-background'],
  ['text', 'mention-background'],
  ['text', 'mention-me-background'],
  ['text', 'mark-background'],
  ['accent-text', 'accent'],
  ['unread-text', 'unread'],
  ['danger', 'danger-background'],
];

/** Outlines and marks, which need a contrast of 3. */
const SHAPES: readonly (readonly [shape: string, background: string])[] = ['border-strong', 'focus', 'accent'].flatMap(
  (shape) => ['background', 'surface', 'surface-raised', 'hover'].map((background) => [shape, background] as const),
);

/** Declarations of all style sheets. */
const declarations = [...allCss.matchAll(/^\s*([\w-]+):\s([^;{]+);/gm)].map(([, property, value]) => ({
  property: property!,
  value: value!,
}));

const othersThan = (property: RegExp, allowed: RegExp): readonly string[] =>
  declarations
    .filter((each) => property.test(each.property) && !allowed.test(each.value))
    .map((each) => `${each.property}: ${each.value}`);

it('lists every custom property with its values in docs/embedding-ui.md', () => {
  const rows = rowsOf(/^\| `--parley-/).map(([name, , value, inContrast]) => [name, value, inContrast]);
  const expected = [
    ...[...usual].map(([name, value]) => [name, value, contrast.get(name) ?? '']),
    ...[...following].map(([name, other]) => [name, `var(${other})`, '']),
  ];
  const sorted = (all: readonly (readonly (string | undefined)[])[]) => all.map(String).sort();
  expect(sorted(rows)).toEqual(sorted(expected));
});

it('uses only declared custom properties and properties that default to them', () => {
  const used = new Set([...allCss.matchAll(/var\((--parley-[\w-]+)/g)].map(([, name]) => name));
  expect([...used].sort()).toEqual([...usual.keys(), ...following.keys()].sort());
});

it('lists every named part in docs/embedding-ui.md', () => {
  const parts = [...filesOf('.tsx').matchAll(/\bpart="([\w-]+)"/g)].map(([, name]) => name);
  expect(rowsOf(/^\| `::part\(/).flatMap(([name]) => /\((.*)\)/.exec(name!)![1]!)).toEqual([...new Set(parts)].sort());
});

it("declares the same high contrast for the theme and for the reader's preference", () => {
  const media = css.slice(css.indexOf('@media (prefers-contrast: more)'));
  const preferred = new Map(
    [...media.matchAll(/(--parley-[\w-]+): ([^;]+);/g)].map(([, name, value]) => [name, value]),
  );
  expect([...preferred]).toEqual([...contrast]);
});

it('lists measured contrasts in docs/design.md', () => {
  const design = readFileSync(join(SRC, '../../../../docs/design.md'), 'utf8');
  const rows = [...design.matchAll(/^\| `([\w-]+)` +\| `([\w-]+)` +\|.*?\| +([\d.]+) +\| +([\d.]+) +\|$/gm)];
  expect(rows.length).toBeGreaterThan(10);
  for (const [, text, background, light, dark] of rows) {
    const ratios = (['light', 'dark'] as const).map((scheme) => {
      const [first, second] = [text, background].map((name) => inScheme(usual.get(`--parley-${name}`)!, scheme));
      return ratioOf(first!, second!);
    });
    expect([text, background, Number(light), Number(dark)]).toEqual([
      text,
      background,
      ...ratios.map((ratio) => Math.floor(ratio * 100) / 100),
    ]);
  }
});

it('takes font sizes, corners and durations from custom properties', () => {
  expect(othersThan(/^font-size$/, /^(var\(--parley-font-size[\w-]*\)|inherit|[\d.]+em)$/)).toEqual([
    // Safari zooms into fields with smaller text.
    'font-size: var(--parley-reader-size)',
    'font-size: calc(1.5 * var(--parley-reader-size))',
  ]);
  expect(othersThan(/^border-radius$/, /^(var\(--parley-[\w-]*radius[\w-]*\)|50%|inherit|0| )+$/)).toEqual([]);
  expect(othersThan(/^transition(-duration)?$/, /var\(--parley-duration\)|^none$/)).toEqual([]);
});

it('spaces in steps of 4 pixels, with 1, 2 and 6 inside small controls', () => {
  const isStep = (pixels: number) => pixels % 4 === 0 || [1, 2, 6].includes(pixels);
  const spaces = declarations.filter(({ property }) => /^(padding|margin|gap|row-gap|column-gap)/.test(property));
  const uneven = spaces.filter(({ value }) => [...value.matchAll(/([\d.]+)px/g)].some(([, px]) => !isStep(Number(px))));
  expect(spaces.length).toBeGreaterThan(200);
  expect(uneven).toEqual([]);
});

describe.each(['light', 'dark'] as const)('%s color scheme', (scheme) => {
  const ratioIn = (values: ReadonlyMap<string, string>, text: string, background: string) => {
    const [first, second] = [text, background].map((name) =>
      inScheme(values.get(`--parley-${name}`) ?? usual.get(`--parley-${name}`)!, scheme),
    );
    return ratioOf(first!, second!);
  };

  it.each(TEXTS)('gives %s on %s a contrast of 4.5, and of 7 in high contrast', (text, background) => {
    expect(ratioIn(usual, text, background)).toBeGreaterThanOrEqual(4.5);
    expect(ratioIn(contrast, text, background)).toBeGreaterThanOrEqual(7);
  });

  it.each(SHAPES)('gives %s on %s a contrast of 3, and of 4.5 in high contrast', (shape, background) => {
    expect(ratioIn(usual, shape, background)).toBeGreaterThanOrEqual(3);
    expect(ratioIn(contrast, shape, background)).toBeGreaterThanOrEqual(4.5);
  });
});

it("takes sizes from the reader's size instead of the font size of the page around the chat", () => {
  expect(allCss.match(/[\d.]+rem\b/g)).toEqual(['1rem']);
});
