import { parseArgs } from 'node:util';

export const USAGE = `Usage: npm run conformance -- [--only PREFIX]… [--show N] [--skipped] [--accept] [--against URL] [--save FILE]

Sends the recorded requests to a server and compares its answers with the recorded ones.

  --only PREFIX   compares only cases whose names begin so; all are run, because later ones need what earlier ones made
  --show N        prints the differences of the first N cases that fail
  --skipped       names the cases that are not compared, and why
  --accept        rewrites passing.txt: from now on the cases that passed have to pass
  --against URL   sends them to this server instead of one of its own; see packages/e2e/conformance/README.md for what it needs
  --save FILE     keeps the server's answers, in the form of answers.jsonl`;

export interface Options {
  /** Empty to compare every case. */
  readonly only: readonly string[];
  readonly show: number;
  readonly skipped: boolean;
  readonly accept: boolean;
  /** URL without a trailing slash; null to start a server. */
  readonly against: string | null;
  readonly save: string | null;
}

/** @throws Error with an explanation of the invalid command line */
export function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: 'string', multiple: true },
      show: { type: 'string' },
      skipped: { type: 'boolean' },
      accept: { type: 'boolean' },
      against: { type: 'string' },
      save: { type: 'string' },
    },
  });
  const { only = [], show = '0', skipped = false, accept = false, against = null, save = null } = values;
  if (!/^\d+$/.test(show)) throw new Error('--show takes a number');
  if (against !== null && !URL.canParse(against)) throw new Error('--against takes a URL');
  return { only, show: Number(show), skipped, accept, against: against?.replace(/\/+$/, '') ?? null, save };
}
