//! A reader of protocol buffers that knows nothing but their grammar.

/// The value of a field.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Field {
    Integer(i64),
    Float(f32),
    Bytes(Vec<u8>),
}

/// The fields of a message with their numbers, in order.
#[derive(Clone, Debug)]
pub(super) struct Message(Vec<(u64, Field)>);

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut number = 0;
    for shift in (0..).step_by(7) {
        let (first, rest) = bytes.split_first().unwrap();
        *bytes = rest;
        number |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            break;
        }
    }
    number
}

impl Message {
    pub(super) fn read(mut bytes: &[u8]) -> Self {
        let mut fields = Vec::new();
        while !bytes.is_empty() {
            let key = varint(&mut bytes);
            let field = match key & 7 {
                0 => Field::Integer(varint(&mut bytes) as i64),
                2 => {
                    let length = varint(&mut bytes) as usize;
                    let (field, rest) = bytes.split_at(length);
                    bytes = rest;
                    Field::Bytes(field.to_vec())
                }
                5 => {
                    let (field, rest) = bytes.split_at(4);
                    bytes = rest;
                    Field::Float(f32::from_le_bytes(field.try_into().unwrap()))
                }
                other => panic!("a field of kind {other}"),
            };
            fields.push((key >> 3, field));
        }
        Self(fields)
    }

    fn all(&self, number: u64) -> impl Iterator<Item = &Field> {
        self.0.iter().filter(move |(field, _)| *field == number).map(|(_, value)| value)
    }

    pub(super) fn integers(&self, number: u64) -> Vec<i64> {
        self.all(number)
            .map(|field| match field {
                Field::Integer(value) => *value,
                other => panic!("{other:?}"),
            })
            .collect()
    }

    pub(super) fn float(&self, number: u64) -> Option<f32> {
        self.all(number).next().map(|field| match field {
            Field::Float(value) => *value,
            other => panic!("{other:?}"),
        })
    }

    pub(super) fn bytes(&self, number: u64) -> Vec<Vec<u8>> {
        self.all(number)
            .map(|field| match field {
                Field::Bytes(value) => value.clone(),
                other => panic!("{other:?}"),
            })
            .collect()
    }

    pub(super) fn texts(&self, number: u64) -> Vec<String> {
        self.bytes(number).into_iter().map(|bytes| String::from_utf8(bytes).unwrap()).collect()
    }

    pub(super) fn text(&self, number: u64) -> String {
        self.texts(number).into_iter().next().unwrap_or_default()
    }

    pub(super) fn messages(&self, number: u64) -> Vec<Self> {
        self.bytes(number).iter().map(|bytes| Self::read(bytes)).collect()
    }

    pub(super) fn message(&self, number: u64) -> Self {
        self.messages(number).remove(0)
    }
}
