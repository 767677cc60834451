import { sourcesOf } from './sources.js';

/** Interface, or alias of several interfaces. */
interface Declaration {
  readonly area: string;
  /** Text between name and body; names the parents. */
  readonly head: string;
  readonly body: string;
  /** True for methods that many repositories share, such as `UserRows`. */
  readonly isShared: boolean;
}

type Port = readonly [area: string | undefined, name: string, type: string];

const DECLARATION = /^(?:export )?(?:interface|type) (\w+)([^{;]*)(?:\{\}|\{\n(.*?)^\}|;)/gms;
const METHOD = /(?:^ +\/\*\*((?:[^*]|\*(?!\/))*)\*\/\n)?^ {2}(\w+\??)(?:<[^(]*>)?\(/gm;
const REPOSITORIES = /^ {2}interface RepositoryMap \{\n(.*?)^ {2}\}/gms;
const REPOSITORY = /^ {4}(\w+): \[.*?\brepository: (.*?),?\s*\];/gms;
const PORT = /^ {2}readonly (\w+): (.*?);/gm;

/** Generates the lists of docs/ports.md from the interfaces of the domain, in the folder `packages`. */
export function renderPorts(packages: string): string {
  const known = new Map<string, Declaration>();
  const ports: Port[] = [];
  let injected = '';
  for (const { file, text } of sourcesOf(packages, 'domain')) {
    const area = file.split('/')[0]!;
    for (const [, name, head, body = ''] of text.matchAll(DECLARATION)) {
      known.set(name!, { area, head: head!, body, isShared: file === 'kernel/rows' });
    }
    for (const [, entries] of text.matchAll(REPOSITORIES)) {
      for (const [, name, type] of entries!.matchAll(REPOSITORY)) ports.push([area, name!, type!]);
    }
    if (file === 'composition/ports') injected = text;
  }
  for (const [, name, type] of injected.matchAll(PORT)) {
    ports.push([known.get(namesIn(type!)[0] ?? '')?.area, name!, type!]);
  }
  const areas = [...new Set(ports.map(([area]) => area))].sort();
  return [
    '## Shared methods',
    ...['RealmRows', 'UserRows', 'RowsOfMessages'].flatMap((name) => section(['kernel', name, name], known, false)),
    ...areas.flatMap((area) => {
      const sections = ports.filter((port) => port[0] === area).flatMap((port) => section(port, known, true));
      return sections.length > 0 ? [`## parley/domain/${area}`, ...sections] : [];
    }),
  ].join('\n\n');
}

/** Section of a port, if it has methods. `isShort` names shared methods instead of listing them. */
function section([, name, type]: Port, known: ReadonlyMap<string, Declaration>, isShort: boolean): readonly string[] {
  const itemsOf = (text: string): readonly string[] =>
    namesIn(text).flatMap((one) => {
      const { head = '', body = '', isShared = false } = known.get(one) ?? {};
      if (!isShared || !isShort) return [...itemsOf(head), ...methodsIn(body)];
      return one.endsWith('Reads') ? [] : [`- those of \`${one}\``];
    });
  const items = [...new Set(itemsOf(type))];
  return items.length > 0 ? [`### ${name}\n\n${items.join('\n')}`] : [];
}

/** Names of interfaces in a type, without arguments. */
const namesIn = (type: string): readonly string[] =>
  [...type.replace(/<[^<>]*>/g, '').matchAll(/\b[A-Z]\w+/g)].map(([name]) => name);

/** List items of the methods, each with the beginning of its comment. */
const methodsIn = (body: string): readonly string[] =>
  [...body.matchAll(METHOD)].map(([, comment = '', name]) => {
    const text = comment.replace(/\s*\n\s*\* ?/g, ' ').replace(/ \(\w+ §[^)]*\)/g, '');
    const [beginning] = /^[^@]*?(?=[.;](?: |$)| ?@|$)/.exec(text.trim())!;
    return beginning === '' ? `- \`${name}\`` : `- \`${name}\`: ${beginning}`;
  });
