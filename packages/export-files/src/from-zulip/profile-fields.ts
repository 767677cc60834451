import type { RealmCopy } from '@parley/domain/exports';
import type { ProfileFieldId } from '@parley/domain/kernel';
import { FIELD_TYPES, keyOfValue } from '../layout.js';
import { flag, id, integer, orElse, parseJson, record, text } from '../shape.js';
import { NAME } from './columns.js';
import type { TableReader } from './table-reader.js';

export function readProfileFields(tables: TableReader): RealmCopy['profileFields'] {
  return tables
    .table('zerver_customprofilefield', {
      id: id<ProfileFieldId>(),
      name: NAME,
      hint: orElse(NAME, ''),
      field_type: integer,
      field_data: orElse(text(100_000), ''),
      order: orElse(integer, 0),
      display_in_profile_summary: orElse(flag, false),
      required: orElse(flag, false),
      editable_by_user: orElse(flag, true),
      use_for_user_matching: orElse(flag, false),
    })
    .flatMap((it) => {
      const kind = keyOfValue(FIELD_TYPES, it.field_type);
      if (!kind) return [];
      const place = 'zerver_customprofilefield.field_data';
      const data = it.field_data === '' ? {} : record(parseJson(it.field_data, place), place);
      return {
        id: it.id,
        realmId: tables.realmId,
        kind,
        order: it.order,
        name: it.name,
        hint: it.hint,
        data: data as RealmCopy['profileFields'][number]['data'],
        isRequired: it.required,
        isEditableByUser: it.editable_by_user,
        isForMatching: it.use_for_user_matching,
        isInSummary: it.display_in_profile_summary,
      };
    });
}
