import { type Source, sourcesOf } from './sources.js';

const CONSTANT = /const (MAX_\w+) = ([\d_]+);/g;
/** Error code and text with a maximum. */
const REFUSAL = /'([A-Z_]+)',\s*`([^`]*\$\{MAX_\w+\}[^`]*)`/g;

/** Generates the list of docs/limits.md from the texts of refusals that name a maximum, in the folder `packages`. */
export function renderLimits(packages: string): string {
  const domain = sourcesOf(packages, 'domain');
  const shared = domain.flatMap(constantsOf);
  const rows = domain.flatMap((source) => {
    const constants = new Map([...shared, ...constantsOf(source)]);
    return [...source.text.matchAll(REFUSAL)].map(([, code, text = '']) => {
      const named = text.replace(/\$\{(\w+)\}/g, (_, name: string) => String(constants.get(name)));
      return `| ${named} | \`${code}\` |`;
    });
  });
  return ['| Text | Code |', '|---|---|', ...rows].join('\n');
}

const constantsOf = ({ text }: Source): readonly (readonly [name: string, value: number])[] =>
  [...text.matchAll(CONSTANT)].map(([, name, digits]) => [name!, Number(digits!.replaceAll('_', ''))]);
