import type { ColumnNames } from '@parley/export-files';
import { permissionTitle, REALM_SETTING_FORMS, USER_SETTING_FORMS } from '@parley/http';

/** Names of columns and values in Zulip's tables that equal those of the API. */
export const COLUMN_NAMES: ColumnNames = {
  realm: {
    present: (values) => REALM_SETTING_FORMS.present(values as never),
    read: (columns) => REALM_SETTING_FORMS.read(columns),
  },
  user: {
    present: (values) => USER_SETTING_FORMS.present(values as never),
    read: (columns) => USER_SETTING_FORMS.read(columns),
  },
  permission: permissionTitle,
};
