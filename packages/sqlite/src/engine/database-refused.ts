/** The file cannot be, or must not be, opened. One line, meant for the operator; the file is as it was. */
export class DatabaseRefused extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'DatabaseRefused';
  }
}
