/** Numbered section of a document with its subsections. */
export interface Section {
  readonly title: string;
  readonly text: string;
  /** Numbers of the section's table rows and list items. */
  readonly rows: ReadonlySet<number>;
}

const HEADING = /^(#{2,4}) (\d+(?:\.\d+)*|[A-Z]\d?)\.? (.*)$/;
const ANY_HEADING = /^(#{1,4}) /;
const FENCE = /^(`{3,}|~{3,})/;
const ROW = /^(?:\| (\d+) \||(\d+)\. )/;

/** Sections by number: `3`, `3.2`, `A1`. Ignores headings in code fences. */
export function sectionsOf(markdown: string): ReadonlyMap<string, Section> {
  const lines = withoutFences(markdown.split('\n'));
  const sections = new Map<string, Section>();
  for (const [index, line] of lines.entries()) {
    const heading = HEADING.exec(line);
    if (!heading) continue;
    const [, marks = '', number = '', title = ''] = heading;
    const end = lines.findIndex((other, at) => at > index && levelOf(other) <= marks.length);
    const own = lines.slice(index, end === -1 ? undefined : end);
    if (sections.has(number)) throw new Error(`There are two sections ${number}: ${title}`);
    sections.set(number, { title, text: own.join('\n'), rows: new Set(own.flatMap(rowNumber)) });
  }
  return sections;
}

const levelOf = (line: string): number => ANY_HEADING.exec(line)?.[1]?.length ?? Number.POSITIVE_INFINITY;

function rowNumber(line: string): number[] {
  const row = ROW.exec(line);
  return row ? [Number(row[1] ?? row[2])] : [];
}

/** Replaces fenced lines by empty lines. */
function withoutFences(lines: readonly string[]): readonly string[] {
  let opening: string | null = null;
  return lines.map((line) => {
    const fence = FENCE.exec(line)?.[1];
    if (opening === null && fence !== undefined) opening = fence;
    else if (opening === null) return line;
    else if (line.trimEnd() === opening) opening = null;
    return '';
  });
}
