import type { Inputs } from '../input-context.js';

export const INPUTS: Inputs = {
  'POST /realm/profile_fields': {
    'a text': ({ n }) => ({ field_type: 1, name: `Field ${n}` }),
  },
  'PATCH /realm/profile_fields': {
    'the maximum number of fields': () => ({ order: Array.from({ length: 200 }, (_, index) => index + 1) }),
  },
  'PATCH /realm/profile_fields/:field_id': {
    'a name': async ({ makeProfileField, n }) => ({ field_id: await makeProfileField(), name: `Renamed ${n}` }),
  },
  'PATCH /users/me/profile_data': {
    'a value': async ({ makeProfileField, n }) => ({ data: [{ id: await makeProfileField(), value: `Value ${n}` }] }),
  },
  'DELETE /users/me/profile_data': {
    'a value': async ({ makeProfileField }) => ({ data: [await makeProfileField()] }),
  },
};
