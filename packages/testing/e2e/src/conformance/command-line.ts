import { parseArgs } from 'node:util';

export const USAGE = `Usage: npm run conformance -- [--only PREFIX]… [--show N] [--skipped] [--accept] [--against URL] [--save FILE]

Sends the recorded requests to a server and compares its responses with the recorded ones.

  --only PREFIX   compares only cases with this name prefix; runs all cases, because later ones use objects of earlier ones
  --show N        prints the differences of the first N failing cases
  --skipped       lists the cases that are not compared, with reasons
  --accept        rewrites passing.txt: the cases that passed must pass from now on
  --against URL   uses this server instead of starting one; packages/testing/e2e/conformance/README.md lists its requirements
  --save FILE     saves the server's responses in the format of answers.jsonl`;

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
