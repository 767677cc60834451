import type { ReactNode } from 'react';

export const metadata = { title: 'My application' };

export default function Layout({ children }: { readonly children: ReactNode }) {
  return (
    <html lang="en">
      <body style={{ fontFamily: 'system-ui, sans-serif', margin: '2rem auto', maxWidth: '60rem', padding: '0 1rem' }}>
        <h1>My application</h1>
        {children}
      </body>
    </html>
  );
}
