import { PLACEHOLDER_KEY_ROWS, type PlaceholderKey } from '@parley/domain/membership';
import { Table } from '../engine/declared-rows.js';
import { PAST } from '../engine/personal-data.js';

export const PLACEHOLDER_FEATURE = {
  ...new Table<PlaceholderKey>(PLACEHOLDER_KEY_ROWS, {
    columns: { placeholderId: 'int', key: 'text' },
    indices: ['UNIQUE INDEX placeholder_key_by_key ON placeholder_key (realm_id, key)'],
  }).feature(27, 'placeholderKeys', {
    data: 'Addresses and ids by which imported people get their account; links between accounts of one person',
    fate: PAST,
    // A later request to erase everything written follows these links.
    erase: "realm_id = {realm} AND placeholder_id = {id} AND key NOT LIKE 'visit:%'",
  }),
  notExported: { placeholder_key: 'It refers to people of the original system.' },
};
