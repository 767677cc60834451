import { GROUP_SCHEMA, type Json, USER_SCHEMA } from './scim-resources.js';

const SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:Schema';
const RESOURCE_TYPE = 'urn:ietf:params:scim:schemas:core:2.0:ResourceType';

const resourceType = (id: string, endpoint: string, schema: string): Json => ({
  schemas: [RESOURCE_TYPE],
  id,
  name: id,
  endpoint,
  description: id,
  schema,
  schemaExtensions: [],
});

export const RESOURCE_TYPES: readonly Json[] = [
  resourceType('User', '/Users', USER_SCHEMA),
  resourceType('Group', '/Groups', GROUP_SCHEMA),
];

const attribute = (name: string, description: string, more: Json = {}): Json => ({
  name,
  type: 'string',
  multiValued: false,
  description,
  required: false,
  caseExact: false,
  mutability: 'readWrite',
  returned: 'default',
  uniqueness: 'none',
  ...more,
});

const EXTERNAL_ID = attribute('externalId', 'Id in the directory.', { caseExact: true });

export const SCHEMAS: readonly Json[] = [
  {
    schemas: [SCHEMA],
    id: USER_SCHEMA,
    name: 'User',
    description: 'Person.',
    attributes: [
      attribute('userName', 'Email address.', { required: true, uniqueness: 'server' }),
      { ...EXTERNAL_ID, description: 'Id in the directory. It can be set once.' },
      attribute('displayName', 'Full name.'),
      attribute('name', 'Full name and its parts.', {
        type: 'complex',
        subAttributes: [
          attribute('formatted', 'Full name.'),
          attribute('givenName', 'First names.'),
          attribute('familyName', 'Last name.'),
        ],
      }),
      attribute('active', 'True unless the account is deactivated.', { type: 'boolean' }),
      attribute('emails', 'The email address, which follows userName.', {
        type: 'complex',
        multiValued: true,
        mutability: 'readOnly',
        subAttributes: [
          attribute('value', 'Email address.', { mutability: 'readOnly' }),
          attribute('type', 'Always work.', { mutability: 'readOnly' }),
          attribute('primary', 'Always true.', { type: 'boolean', mutability: 'readOnly' }),
        ],
      }),
      attribute('roles', 'Role in the organization.', {
        type: 'complex',
        multiValued: true,
        subAttributes: [
          attribute('value', 'owner, administrator, moderator, member or guest.'),
          attribute('primary', 'True for the role that counts.', { type: 'boolean' }),
        ],
      }),
    ],
  },
  {
    schemas: [SCHEMA],
    id: GROUP_SCHEMA,
    name: 'Group',
    description: 'User group.',
    attributes: [
      attribute('displayName', 'Name.', { required: true, uniqueness: 'server' }),
      EXTERNAL_ID,
      attribute('members', 'People in the group.', {
        type: 'complex',
        multiValued: true,
        subAttributes: [
          attribute('value', 'Id of the user.', { caseExact: true, mutability: 'immutable' }),
          attribute('type', 'Always User.', { mutability: 'immutable' }),
        ],
      }),
    ],
  },
];

export const serviceProviderConfig = ({ maxResults }: { readonly maxResults: number }): Json => ({
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig'],
  patch: { supported: true },
  bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
  filter: { supported: true, maxResults },
  changePassword: { supported: false },
  sort: { supported: false },
  etag: { supported: true },
  authenticationSchemes: [
    {
      type: 'oauthbearertoken',
      name: 'Bearer token',
      description: 'Token of the organization, made with parley scim token create.',
      primary: true,
    },
  ],
});
