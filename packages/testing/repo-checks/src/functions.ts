import { countLines } from './measures.js';
import { parseSource, type SyntaxNode } from './source-code.js';

export interface MeasuredFunction {
  /** Own name, or the name of the enclosing construct. */
  readonly name: string;
  /** Lines that are neither blank nor comments. */
  readonly lines: number;
  /** 0 for the constructor of a class with `static inject`, which only the container calls. */
  readonly parameters: number;
}

interface Span {
  readonly start: number;
  readonly end: number;
}

/** Measures functions, methods, constructors and accessors at any depth. */
export function functionsOf(code: string): readonly MeasuredFunction[] {
  // The parser counts bytes from an arbitrary start, which the last statement reveals.
  const nodes = parseSource(`${code}\n;`);
  const bytes = Buffer.from(code);
  const base = (nodes.at(-1)!.span as Span).start - bytes.length - 1;
  const textOf = ({ start, end }: Span) => bytes.subarray(start - base, end - base).toString();
  const found: MeasuredFunction[] = [];
  const visit = (value: object, outerName: string, isInjected: boolean): void => {
    if (Array.isArray(value)) {
      for (const each of value) if (typeof each === 'object' && each !== null) visit(each, outerName, isInjected);
      return;
    }
    const node = value as SyntaxNode;
    const name = nameOf(node) ?? outerName;
    if (Array.isArray(node.params) && node.body && node.span) {
      const parameters = isInjected && node.type === 'Constructor' ? 0 : node.params.length;
      found.push({ name, lines: countLines(textOf(node.span as Span)).lines, parameters });
    }
    const isInjectedInside = Array.isArray(node.body) ? node.body.some(isInjection) : isInjected;
    for (const key in node) {
      const part = node[key];
      // Positions make up half of all objects.
      if (typeof part === 'object' && part !== null && key !== 'span') visit(part, name, isInjectedInside);
    }
  };
  visit(nodes, '', false);
  return found;
}

function nameOf({ type, identifier, key, id }: SyntaxNode): string | undefined {
  if (type === 'Constructor') return 'constructor';
  const named = (identifier ?? key ?? id) as { readonly value?: unknown } | null | undefined;
  return typeof named?.value === 'string' ? named.value : undefined;
}

const isInjection = (member: unknown): boolean => {
  const { type, isStatic, key } = member as SyntaxNode;
  return type === 'ClassProperty' && isStatic === true && (key as SyntaxNode).value === 'inject';
};
