import type { ClientConfig } from 'pg';
import { filedPassword } from './password-file.js';
import type { ClientClass } from './primary.js';

type Library = Pick<typeof import('pg'), 'Client'>;

/** Returns the driver's client with passwords from the password file, which the driver no longer reads by itself. */
export const clientClass = (library: Library): ClientClass =>
  class extends library.Client {
    constructor(config?: ClientConfig) {
      super(config);
      const client = this as unknown as { password: unknown };
      if (!client.password) client.password = filedPassword;
    }
  };
