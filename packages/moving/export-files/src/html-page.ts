import { escapeHtml } from '@parley/domain/kernel';

/** Blocks scripts, pictures, frames and forms, even if a text becomes markup by mistake. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'";

/** Start of a page that browsers open from a file, up to its heading. */
export const htmlStart = (title: string, style: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width">
<title>${escapeHtml(title)}</title>
<style>${style}</style>
</head>
<body>
<h1>${escapeHtml(title)}</h1>
`;

export const HTML_END = '</body>\n</html>\n';
