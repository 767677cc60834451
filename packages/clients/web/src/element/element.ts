/**
 * Script included by a host's page. Its address is fixed, and the files that it loads have digests in their names, so
 * they always match the server. The build inserts the names of the style sheets.
 */
void import('./parley-chat.js').then(({ define }) =>
  define({ styleSheet: '__PARLEY_STYLE_SHEET__', fonts: '__PARLEY_FONTS__' }),
);
