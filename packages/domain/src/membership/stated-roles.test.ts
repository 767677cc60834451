import type { Role } from '../access/roles.js';
import { roleChange, statedRole } from './stated-roles.js';

const ROLES = new Map<string, Role>([
  ['chiefs', 'owner'],
  ['admins', 'administrator'],
]);
const WITH_GUESTS = new Map<string, Role>([...ROLES, ['visitors', 'guest']]);

interface Case {
  readonly of: Role;
  /** Null: the list is missing or incomplete. */
  readonly values: readonly unknown[] | null;
  readonly roles?: ReadonlyMap<string, Role>;
  readonly defaultRole?: Role | null;
  readonly isOnlyOwner?: boolean;
  /** Null: the user keeps their role. */
  readonly becomes: Role | null;
  readonly problem?: RegExp;
}

it.each<[string, Case]>([
  ['assigns the role of a match', { of: 'member', values: ['x', 'admins'], becomes: 'administrator' }],
  ['prefers the first role of the mapping', { of: 'member', values: ['admins', 'chiefs'], becomes: 'owner' }],
  ['changes nothing for the current role', { of: 'administrator', values: ['admins'], becomes: null }],
  ['compares values exactly', { of: 'member', values: ['Admins', 7, null, { admins: true }], becomes: null }],
  ['revokes a role without a match', { of: 'administrator', values: ['x'], becomes: 'member' }],
  ['revokes a role for an empty list', { of: 'moderator', values: [], becomes: 'member' }],
  ['revokes the role of one of several owners', { of: 'owner', values: [], becomes: 'member' }],
  ['uses the configured default role', { of: 'member', values: [], defaultRole: 'guest', becomes: 'guest' }],
  ['keeps roles without a default role', { of: 'administrator', values: [], defaultRole: null, becomes: null }],
  [
    'assigns matched roles without a default role',
    { of: 'member', values: ['admins'], defaultRole: null, becomes: 'administrator' },
  ],
  ['keeps roles without a complete list', { of: 'administrator', values: null, becomes: null }],
  ['keeps roles without a mapping', { of: 'administrator', values: ['x'], roles: new Map(), becomes: null }],
  ['keeps guests if the mapping has no guests', { of: 'guest', values: [], becomes: null }],
  ['promotes guests if the mapping has guests', { of: 'guest', values: [], roles: WITH_GUESTS, becomes: 'member' }],
  ['demotes to guests', { of: 'member', values: ['visitors'], roles: WITH_GUESTS, becomes: 'guest' }],
  [
    'keeps the last owner without a match and reports the reason',
    { of: 'owner', values: [], isOnlyOwner: true, becomes: null, problem: /stays owner: .*only organization owner/ },
  ],
  [
    'keeps the last owner with another role and reports the reason',
    { of: 'owner', values: ['admins'], isOnlyOwner: true, becomes: null, problem: /stays owner/ },
  ],
  [
    'does not promote a guest to administrator and reports the reason',
    { of: 'guest', values: ['admins'], becomes: null, problem: /stays guest: Guests cannot/ },
  ],
])('%s', (_, { of, values, roles = ROLES, defaultRole = 'member', isOnlyOwner = false, becomes, problem }) => {
  const stated = values && statedRole(values, { roles, defaultRole });
  expect(roleChange({ role: of }, stated, isOnlyOwner)).toEqual({
    role: becomes,
    problem: problem ? expect.stringMatching(problem) : null,
  });
});
