/** What a job file may say. Everything about an option is here: validation, defaults and help are made of it. */
export const READER_OPTIONS = /** @type {const} */ ({
  type: 'object',
  additionalProperties: false,
  required: ['count'],
  properties: {
    count: {
      type: 'integer',
      minimum: 0,
      description: 'How many rows there are.',
      examples: [1000],
    },
    splits: {
      type: 'integer',
      minimum: 1,
      maximum: 1000,
      default: 1,
      description: 'In how many parts they are counted, each by one lane.',
    },
    text: {
      type: 'string',
      default: 'row',
      description: 'Begins the text of every row; its number follows.',
    },
  },
});

export const WRITER_OPTIONS = /** @type {const} */ ({
  type: 'object',
  additionalProperties: false,
  required: ['path'],
  properties: {
    path: {
      type: 'string',
      minLength: 1,
      description: 'Folder that gets the files; it is made if it is not there.',
      examples: ['out'],
      'x-path': 'one',
    },
  },
});
