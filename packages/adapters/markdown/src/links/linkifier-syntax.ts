import type { LinkifierSyntax } from '@parley/domain/realms';
import type { RE2JSSyntaxException } from 're2js';
import { Watchdog } from '../typesetting/typeset.js';
import { compilePattern, surrounded } from './engine-linkifier.js';

/** Maps engine messages to the texts of the API's reference (organization §6.1 row 3). */
const PROBLEMS: Readonly<Record<string, string>> = {
  'missing closing )': 'missing )',
  'missing closing ]': 'missing ]',
  'invalid nested repetition operator': 'bad repetition operator',
  'missing argument to repetition operator': 'no argument for repetition operator',
  'invalid or unsupported Perl syntax': 'invalid perl operator',
  'invalid repeat count': 'invalid repetition size',
  'invalid named capture': 'invalid named capture group',
  'trailing backslash at end of expression': 'trailing \\',
};

/** Needed because a pattern of a thousand characters may compile to a million steps. */
const COMPILE_MS = 25;
/** Patterns below this size are known to be fast. */
const UNWATCHED_STEPS = 2_000_000;
const TOO_LARGE = 'pattern too large - compile failed';

/** Text outside of expressions is unrestricted. */
const TEMPLATE = /^(?:[^{}]|\{[^{}]*\})*$/;
const EXPRESSION = /\{([^{}]*)\}/g;
/** Expression of RFC 6570: an operator and variables with modifiers. */
const VARIABLE = String.raw`((?:\w|%[\da-fA-F]{2})(?:\.?(?:\w|%[\da-fA-F]{2}))*)(?:\*|:[1-9]\d{0,3})?`;
const VARIABLES = new RegExp(`^[+#./;?&]?${VARIABLE}(?:,${VARIABLE})*$`);

/** Syntax used by linkifiers: RE2 for patterns, RFC 6570 for templates. */
export const re2LinkifierSyntax: LinkifierSyntax = {
  compile(pattern) {
    const watchdog = new Watchdog(COMPILE_MS, UNWATCHED_STEPS);
    try {
      const compiled = compilePattern(pattern, watchdog);
      // Compiles with the surrounding context too, which fails for some patterns.
      compilePattern(surrounded(pattern), watchdog);
      const groups = Object.keys(compiled.namedGroups());
      return {
        groups,
        find: (text) => {
          const matcher = compiled.matcher(text);
          if (!matcher.find()) return null;
          return Object.fromEntries(groups.map((name) => [name, matcher.group(name)]));
        },
      };
    } catch (error) {
      return { problem: watchdog.isOver ? TOO_LARGE : describe(error as Partial<RE2JSSyntaxException>) };
    }
  },

  templateVariables(template) {
    if (!TEMPLATE.test(template)) return null;
    const names = new Set<string>();
    for (const [, expression = ''] of template.matchAll(EXPRESSION)) {
      if (!VARIABLES.test(expression)) return null;
      for (const variable of expression.replace(/^[+#./;?&]/, '').split(',')) {
        names.add(variable.replace(/(?:\*|:\d+)$/, ''));
      }
    }
    return names;
  },
};

function describe(error: Partial<RE2JSSyntaxException>): string {
  // Not a syntax error; for example, the stack is too small.
  const description = error.getDescription?.() ?? 'unexpected error';
  const problem = PROBLEMS[description] ?? description;
  const part = error.getPattern?.();
  return part ? `${problem}: ${part}` : problem;
}
