import { countLines } from './measures.js';
import { parseWithOffsets, type SyntaxNode } from './source-code.js';

export interface MeasuredFunction {
  /** Own name, or the name of the enclosing construct. */
  readonly name: string;
  /** Lines that are neither blank nor comments. */
  readonly lines: number;
  readonly parameters: number;
  /** True if the function only returns a list, such as the routes of a feature. */
  readonly isList: boolean;
}

/** Measures functions, methods, constructors and accessors at any depth. */
export function functionsOf(code: string): readonly MeasuredFunction[] {
  const { nodes, textOf } = parseWithOffsets(code);
  const found: MeasuredFunction[] = [];
  const visit = (value: object, outerName: string): void => {
    if (Array.isArray(value)) {
      for (const each of value) if (typeof each === 'object' && each !== null) visit(each, outerName);
      return;
    }
    const node = value as SyntaxNode;
    const name = nameOf(node) ?? outerName;
    if (Array.isArray(node.params) && node.body && node.span) {
      const { lines } = countLines(textOf(node));
      found.push({ name, lines, parameters: node.params.length, isList: isList(node.body as SyntaxNode) });
    }
    for (const key in node) {
      const part = node[key];
      // Positions make up half of all objects.
      if (typeof part === 'object' && part !== null && key !== 'span') visit(part, name);
    }
  };
  visit(nodes, '');
  return found;
}

function nameOf({ type, identifier, key, id }: SyntaxNode): string | undefined {
  if (type === 'Constructor') return 'constructor';
  const named = (identifier ?? key ?? id) as { readonly value?: unknown } | null | undefined;
  return typeof named?.value === 'string' ? named.value : undefined;
}

/** Body of an arrow function, or one with a single statement. */
function isList(body: SyntaxNode): boolean {
  if (body.type === 'ArrayExpression') return true;
  const [only, ...others] = (body.stmts ?? []) as readonly SyntaxNode[];
  return (
    only?.type === 'ReturnStatement' && others.length === 0 && !!only.argument && isList(only.argument as SyntaxNode)
  );
}
