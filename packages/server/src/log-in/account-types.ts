import { ROLES } from '@parley/domain/access';
import { isParsableUrl } from '@parley/domain/kernel';
import { isLoopbackName, type ParamType } from '@parley/http';
import {
  boolean,
  described,
  fromText,
  jsonIn,
  listOf,
  Mismatch,
  oneOf,
  optional,
  recordOf,
  refine,
  type SettingType,
  secret,
  text,
  valueType,
} from '../kernel/values.js';

/** Types of the properties of log-in accounts. */

export const NAME = described(
  text({ max: 40, pattern: /^[a-z0-9][a-z0-9-]*$/ }),
  'at most 40 lower-case letters, digits and hyphens',
);
/** Name of a service with a button; `host` is the button of the host application. */
export const SERVICE_NAME = described(
  refine(NAME, (name) => (name === 'host' ? '' : undefined)),
  'at most 40 lower-case letters, digits and hyphens, and not host',
);
export const TEXT = described(text({ min: 1, max: 1000 }), 'a string of 1 to 1000 characters');
export const TEXTS = listOf(TEXT, { max: 1000 });
export const SOME_TEXTS = described(
  listOf(TEXT, { max: 1000, notEmpty: true }),
  'an array of at least one and at most 1000 strings',
);
export const STRING_IDS = listOf(text({ max: 100 }), { max: 1000 });
export const FLAG = boolean();
export const ICON = valueType<string>(
  'the URL of an image',
  (value) => typeof value === 'string' && isParsableUrl(value),
);

/** Plain HTTP is allowed on the same machine, for tests and development. */
export const ENCRYPTED_URL = valueType<string>(
  'an address with https (http only on this machine), as passwords and tokens are sent there',
  (value) => {
    if (typeof value !== 'string' || !isParsableUrl(value)) return false;
    const { protocol, hostname } = new URL(value);
    return protocol === 'https:' || (protocol === 'http:' && isLoopbackName(hostname));
  },
);

/** Properties of `RoleOptions`. */
export const ROLE_TYPES = {
  roles: optional(recordOf(oneOf(ROLES), { max: 1000, maxKeyLength: 1000 })),
  // Members and guests only, since users who match no group must not get privileges.
  defaultRole: optional(oneOf(['member', 'guest', 'unchanged'])),
};

const MAX_ACCOUNTS = 100;

/** List of accounts with different names. `accountOf` throws errors that complete "must be". */
export function accountList<O, A extends { readonly name: string }>(
  what: string,
  example: string,
  option: ParamType<O>,
  accountOf: (option: O) => A,
): SettingType<readonly A[]> {
  const list = fromText(described(listOf(option, { max: MAX_ACCOUNTS }), `a list of ${what}`), jsonIn(example));
  const convert = (value: unknown): readonly A[] => {
    const accounts = (value as readonly O[]).map(accountOf);
    const twice = accounts.find(({ name }, index) => accounts.findIndex((it) => it.name === name) !== index);
    if (twice) throw new Error(`a list of ${what} with different names; ${twice.name} is used twice`);
    return accounts;
  };
  return secret({
    ...list,
    convert,
    check(value) {
      const error = list.check(value);
      if (error) return error;
      try {
        convert(value);
        return undefined;
      } catch (problem) {
        return new Mismatch((problem as Error).message);
      }
    },
  });
}
