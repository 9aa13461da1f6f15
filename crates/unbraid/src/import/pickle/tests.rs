use super::*;

/// A pickle as Python's `pickle.dumps(..., protocol=2)` writes it, in the opcodes of `pickletools.dis`.
fn read(bytes: &[u8]) -> Result<Pickle, String> {
    Pickle::read(bytes)
        .map(|(pickle, _)| pickle)
        .map_err(|refusal| format!("found {}, expected {}", refusal.found, refusal.expected))
}

/// `OrderedDict` by Python 3: called without arguments, then filled, then given the state of `_metadata`.
const ORDERED: &[u8] = b"\x80\x02ccollections\nOrderedDict\nq\x00)Rq\x01(X\x01\x00\x00\x00aq\x02K\x07X\x01\x00\x00\x00bM\x00\x02u}X\x01\x00\x00\x00c}sb.";

/// By Python 2: called with a list of pairs.
const OF_PAIRS: &[u8] =
    b"\x80\x02ccollections\nOrderedDict\n](](U\x01aK\x07e](U\x01b\x8a\x02\x00\x02ee\x85R.";

#[test]
fn ordered_dicts_of_both_pythons_are_read() {
    for bytes in [ORDERED, OF_PAIRS] {
        let pickle = read(bytes).unwrap();
        let value = |key: &str| pickle.value(pickle.get(pickle.root(), key).unwrap());
        assert_eq!((value("a"), value("b")), (&Value::Integer(7), &Value::Integer(512)));
        assert_eq!(pickle.get(pickle.root(), "c"), None);
    }
}

#[test]
fn numbers_and_words_of_every_protocol_are_read() {
    for (bytes, expected) in [
        (&b"I42\n."[..], Value::Integer(42)),
        (b"I01\n.", Value::Boolean(true)),
        (b"L-3L\n.", Value::Integer(-3)),
        (b"J\xfe\xff\xff\xff.", Value::Integer(-2)),
        (b"\x8a\x00.", Value::Integer(0)),
        (b"\x8a\x02\x00\xff.", Value::Integer(-256)),
        (b"G\x3f\xf8\x00\x00\x00\x00\x00\x00.", Value::Float(1.5)),
        (b"F1.5\n.", Value::Float(1.5)),
        (b"S'word'\n.", Value::Text("word".to_owned())),
        (b"\x80\x04\x95\x06\x00\x00\x00\x00\x00\x00\x00\x8c\x02hi\x94.", Value::Text("hi".to_owned())),
        (b"C\x02\x00\xff.", Value::Bytes),
    ] {
        let pickle = read(bytes).unwrap();
        assert_eq!(pickle.value(pickle.root()), &expected, "{}", bytes.escape_ascii());
    }
}

/// What `pickle.dumps` makes of an object whose `__reduce__` returns `os.system` and a command, by both ways to name a
/// function, and other ways to get something called.
#[test]
fn functions_that_are_not_on_the_list_are_refused_by_name() {
    let expected = "expected a state dict of tensors: torch.save(model.state_dict(), ...)";
    for (bytes, found) in [
        (&b"\x80\x02cposix\nsystem\nX\x02\x00\x00\x00id\x85R."[..], "a pickle that asks for `posix.system`"),
        (b"\x80\x04\x8c\x05posix\x8c\x06system\x93\x8c\x02id\x85R.", "a pickle that asks for `posix.system`"),
        (b"c__main__\nVAE\n)\x81.", "a pickle that asks for `__main__.VAE`"),
        (b"cbuiltins\neval\n.", "a pickle that asks for `builtins.eval`"),
        (b"ctorch\nload\n.", "a pickle that asks for `torch.load`"),
        (b"ctorch\nQInt8Storage\n.", "a pickle that asks for `torch.QInt8Storage`"),
        (b"ca\x1b[31m\nb\n.", "a pickle that asks for `a\\u{1b}[31m.b`"),
        (b"(iposix\nsystem\n.", "operation 0x69 at byte 1 of its pickle"),
        (b"\x82\x01.", "operation 0x82 at byte 0 of its pickle"),
        (b"K\x01)R.", "a call of something that is no function"),
        (b"]}b.", "an object with a state of its own"),
    ] {
        assert_eq!(
            read(bytes).unwrap_err(),
            format!("found {found}, {expected}"),
            "{}",
            bytes.escape_ascii()
        );
    }
}

#[test]
fn damaged_pickles_are_refused() {
    for bytes in [
        &b"."[..],
        b"(0.",
        b"t.",
        b"h\x05.",
        b"K\x01K\x02s.",
        b"](K\x01u.",
        b"}(K\x01u.",
        b"\x86.",
        b"ccollections\nOrderedDict\nK\x01R.",
        b"ctorch\nFloatStorage\n)R.",
        b"X\x02\x00\x00\x00\xff\xfe.",
        b"S\n.",
        b"Iabc\n.",
        b"K\x01Q.",
    ] {
        let message = read(bytes).unwrap_err();
        let known = ["found a damaged pickle, expected a file that torch.save wrote"];
        assert!(known.contains(&message.as_str()), "{}: {message}", bytes.escape_ascii());
    }
    for bytes in [
        &b""[..],
        b"\x80",
        b"cno newline",
        b"X\x05\x00\x00\x00abc",
        b"\x8d\xff\xff\xff\xff\xff\xff\xff\x7fabc",
        b"K\x01",
    ] {
        assert_eq!(
            read(bytes).unwrap_err(),
            "found a file that ends within its pickle, expected a whole file",
            "{}",
            bytes.escape_ascii()
        );
    }
}

/// A tensor of three rows and two columns, transposed, in a storage of eight numbers: its last number is 1 +
/// 2 + 2 * 2 = 5 beyond an offset; then views that leave the storage.
#[test]
fn tensors_must_lie_within_their_storages() {
    let pickle = |offset: u8, rows: &[u8], stride: &[u8]| {
        let mut bytes = b"ctorch._utils\n_rebuild_tensor_v2\n((X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpuK\x08tQK".to_vec();
        bytes.push(offset);
        bytes.push(b'(');
        bytes.extend_from_slice(rows);
        bytes.extend_from_slice(b"t(");
        bytes.extend_from_slice(stride);
        bytes.extend_from_slice(b"t\x89NtR.");
        read(&bytes)
    };
    let read = pickle(1, b"K\x02K\x03", b"K\x01K\x02").unwrap();
    let Value::Tensor(tensor) = read.value(read.root()) else { panic!("{read:?}") };
    assert_eq!((tensor.offset, &tensor.shape, &tensor.strides), (1, &vec![2, 3], &vec![1, 2]));
    assert_eq!((tensor.storage.key.as_str(), tensor.storage.length), ("0", 8));
    let message = |shape: &str| {
        format!("found a tensor of {shape} in a storage of 8 numbers, expected tensors within their storages")
    };
    assert_eq!(pickle(3, b"K\x02K\x03", b"K\x01K\x02").unwrap_err(), message("[2, 3]"));
    assert_eq!(pickle(0, b"K\x09", b"K\x01").unwrap_err(), message("[9]"));
    // A product beyond 64 bits, of one number seen again and again.
    let huge = b"\x8a\x08\x00\x00\x00\x00\x00\x00\x00\x40";
    let axes = [&huge[..], huge].concat();
    let text = message("[4611686018427387904, 4611686018427387904]");
    assert_eq!(pickle(0, &axes, b"K\x00K\x00").unwrap_err(), text);
    assert!(pickle(0, b"K\x02", b"K\x01K\x01").is_err());
    // Nothing is within any storage.
    assert!(pickle(9, b"K\x00", b"K\x01").is_ok());
}

/// A million lists within each other, and a list that contains itself: neither is followed.
#[test]
fn nesting_has_no_limit_and_no_cost() {
    let deep = [vec![b']'; 1_000_000], vec![b'a'; 999_999], vec![b'.']].concat();
    read(&deep).unwrap();
    read(b"]q\x00h\x00a.").unwrap();
}

/// A list of a thousand pairs, copied by every one of a million calls, is refused instead.
#[test]
fn copies_are_limited() {
    let mut bytes = b"ccollections\nOrderedDict\nq\x00](".to_vec();
    bytes.extend((0..1000).flat_map(|_| *b"K\x00K\x00\x86"));
    bytes.extend_from_slice(b"e\x85q\x01");
    bytes.extend((0..1_000_000).flat_map(|_| *b"0h\x00h\x01R"));
    bytes.push(b'.');
    assert_eq!(read(&bytes).unwrap_err(), "found a damaged pickle, expected a file that torch.save wrote");
    let long = [vec![b'('; 9 << 20], vec![b'.']].concat();
    assert_eq!(
        read(&long).unwrap_err(),
        "found a pickle of more than 8 MiB, expected that of a state dict, with some hundred bytes for each tensor"
    );
}

/// A storage with a name of a kilobyte, and a tensor of it, a million times; a tensor with a hundred axes;
/// and a value for each byte, remembered or not.
#[test]
fn little_that_becomes_much_is_refused() {
    let damaged = "found a damaged pickle, expected a file that torch.save wrote";
    let mut storage = b"(X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x00\x04\x00\x00".to_vec();
    storage.extend([b'0'; 1024]);
    storage.extend_from_slice(b"X\x03\x00\x00\x00cpuK\x08tq\x00");
    let storages = [&storage[..], &b"h\x00Q0".repeat(1_000_000), b"."].concat();
    assert_eq!(read(&storages).unwrap_err(), damaged);
    let function = b"ctorch._utils\n_rebuild_tensor_v2\nq\x01";
    let tensors =
        [&storage[..], b"0(h\x00QK\x00))tq\x02", function, &b"h\x01h\x02R0".repeat(1_000_000), b"."].concat();
    assert_eq!(read(&tensors).unwrap_err(), damaged);
    let one = [&storage[..], b"0", function, b"(h\x00QK\x00K\x02\x85K\x01\x85tR."].concat();
    let one = read(&one).unwrap();
    assert!(matches!(one.value(one.root()), Value::Tensor(tensor) if tensor.shape == [2]));
    let axes = [b"(".to_vec(), b"K\x01".repeat(100), b"t".to_vec()].concat();
    let wide = [&storage[..], b"0", function, b"(h\x00QK\x00", &axes, &axes, b"tR."].concat();
    assert_eq!(read(&wide).unwrap_err(), damaged);
    let many = "found a pickle of more than 2097152 values, expected that of a state dict, with about twenty for each tensor";
    assert_eq!(read(&[vec![b'N'; 3_000_000], vec![b'.']].concat()).unwrap_err(), many);
    assert_eq!(read(&[vec![b'N'], vec![0x94; 3_000_000], vec![b'.']].concat()).unwrap_err(), many);
}
